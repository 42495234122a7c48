import recorded from "../../../bench/measured.json" with { type: "json" };
import { peerTerms, peerWork } from "../content/peers.ts";
import type { Text } from "../content/text.ts";
import { type Entry, type Listing, textEntry } from "./listing.ts";

/** What `npm run bench -- --record` writes. */
interface Measured {
  engines: readonly {
    engine: string;
    contenders: readonly {
      name: string;
      rows: readonly { id: string; form?: string; against: Readonly<Record<string, number>> }[];
    }[];
  }[];
}
const { engines } = recorded as unknown as Measured;

const peer = "onnxruntime-web";

/** One for each engine and binary that was measured. */
const columns = engines.flatMap(({ engine, contenders }) =>
  contenders.map(({ name, rows }) => ({
    engine: engine.replace(/\..*/, ""),
    words: name.endsWith("relaxed") ? peerTerms.relaxed : peerTerms.plain,
    rows,
  })),
);

const heading = ({ engine, words }: (typeof columns)[number]): Text => ({
  zh: `${engine}，${words.zh}`,
  en: `${engine}, ${words.en}`,
});

const isWork = (id: string): id is keyof typeof peerWork => id in peerWork;

/** How many times as fast as onnxruntime-web. */
export function peersListing(): Listing {
  const ids = (columns[0]?.rows ?? []).filter(({ form }) => form === undefined).map(({ id }) => id);
  return {
    id: "peers",
    columns: [peerTerms.work, ...columns.map(heading)],
    rows: ids.filter(isWork).map((id) => [
      textEntry(peerWork[id]),
      ...columns.map(({ rows }): Entry => {
        const ratio = rows.find((row) => row.id === id && row.form === undefined)?.against[peer];
        return ratio === undefined ? textEntry(peerTerms.none) : { kind: "number", value: ratio };
      }),
    ]),
  };
}
