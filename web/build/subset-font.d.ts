declare module "subset-font" {
  export default function subset(
    font: Buffer,
    characters: string,
    options: { targetFormat: "woff2"; noHinting: boolean },
  ): Promise<Buffer<ArrayBuffer>>;
}
