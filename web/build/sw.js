// Keeps the whole page for when there is no network. One version at a time: a newer one is fetched beside it
// and takes over once no tab shows the old one, so that no page ever mixes files of two versions.

const version = `softlookup-${"VERSION"}`;
const files = ["FILES"];

self.addEventListener("install", (event) => {
  // Past the browser's own cache, which may still hold files of the version before.
  const requests = files.map((file) => new Request(file, { cache: "reload" }));
  event.waitUntil(caches.open(version).then((cache) => cache.addAll(requests)));
});

self.addEventListener("activate", (event) => {
  const old = (name) => name.startsWith("softlookup-") && name !== version;
  event.waitUntil(
    caches.keys().then((names) => Promise.all(names.filter(old).map((name) => caches.delete(name)))),
  );
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET") return;
  const page =
    request.mode === "navigate" && new URL(request.url).pathname === new URL("./", location).pathname;
  event.respondWith(
    caches
      .open(version)
      .then((cache) => cache.match(page ? "./" : request))
      .then((kept) => kept ?? fetch(request)),
  );
});
