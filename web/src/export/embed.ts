const quoted = (text: string) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");

/** For a page of the teacher's: the lesson in a frame that grows with it. */
export function embedCode(link: string, title: string): string {
  return `<iframe src="${quoted(link)}" title="${quoted(title)}" loading="lazy" style="width: 100%; height: 60rem; border: 0"></iframe>
<script>
  addEventListener("message", ({ data, source }) => {
    if (data?.type !== "softlookup:height") return;
    for (const frame of document.querySelectorAll("iframe")) {
      if (frame.contentWindow === source) frame.style.height = data.height + "px";
    }
  });
</script>
`;
}
