/** The binary as a data: URL, which fetch understands in Node as well as in a browser. */
declare module "*.wasm?url&inline" {
  const url: string;
  export default url;
}
