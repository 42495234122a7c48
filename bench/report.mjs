// Results as text: Markdown of ratios, which hold on other machines too, and the times of this run.

import { libraries } from "./peers/index.mjs";
import { ratios, summary } from "./statistics.mjs";
import { cacheBytes, operations, workload } from "./workloads.mjs";

const figure = (x) => x.toFixed(x < 99.95 ? 1 : 0);
const times = (x) => (x < 9.995 ? x.toFixed(2) : x.toFixed(x < 99.95 ? 1 : 0));
const percent = (x) => (x < 0.01 ? "< 1 %" : `${(100 * x).toFixed(0)} %`);
const withSpread = ({ median, low, high }) => `${times(median)}× (${times(low)}–${times(high)})`;

const table = ([head, ...rows]) =>
  [head, head.map((_, i) => (i === 0 ? "---" : "---:")), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");

const median = ({ times }) => summary(times).median;
const isOwn = ({ peer }) => peer.startsWith("softlookup");
const isPeer = (result) => !result.unit && !isOwn(result);

const unique = (values) => [...new Set(values)];

/** A library is as good as its best form. */
function best(results, peer) {
  const forms = results.filter((result) => result.peer === peer);
  return forms.sort((a, b) => median(a) - median(b))[0];
}

/** Operations or bytes a millisecond, the best reading of the whole run. */
function bestReading(workloads, unit) {
  const readings = workloads
    .flatMap(({ results }) => results)
    .filter((result) => result.unit === unit)
    .flatMap(({ amount, times }) => times.map((time) => amount / time));
  return Math.max(...readings);
}

/** Of what bounds it: arithmetic, or in a decode step the reading of keys and values. */
function share(shape, own, workloads) {
  const [unit, amount] = shape.decode ? ["bytes", cacheBytes(shape)] : ["operations", operations(shape)];
  return amount / median(own) / bestReading(workloads, unit);
}

const peersIn = (workloads) =>
  unique(workloads.flatMap(({ results }) => results.filter(isPeer).map(({ peer }) => peer)));

const ownsIn = (workloads) =>
  unique(workloads.flatMap(({ results }) => results.filter(isOwn).map(({ peer }) => peer)));

/** One row for each workload and form of call: how many times as fast as each peer. */
function comparisons(own, workloads) {
  return workloads.flatMap(({ id, results }) =>
    results
      .filter(({ peer }) => peer === own)
      .map((mine) => ({
        id,
        form: mine.form,
        against: Object.fromEntries(
          peersIn(workloads).flatMap((peer) => {
            const theirs = best(results, peer);
            return theirs ? [[peer, summary(ratios(theirs.times, mine.times))]] : [];
          }),
        ),
        share: share(workload(id), mine, workloads),
        error: mine.error,
      })),
  );
}

function ratioTable(own, workloads) {
  const peers = peersIn(workloads);
  const rows = comparisons(own, workloads).map((row) => {
    const { title, decode } = workload(row.id);
    return [
      row.form ? `${title}, ${row.form}` : title,
      ...peers.map((peer) => (row.against[peer] ? withSpread(row.against[peer]) : "–")),
      `${percent(row.share)} of ${decode ? "bandwidth" : "peak"}`,
      row.error.toExponential(1),
    ];
  });
  return table([["", ...peers, "share", "relative error"], ...rows]);
}

function refusals(workloads) {
  const lines = workloads.flatMap(({ id, refused }) =>
    refused.map(
      ({ peer, form, reason }) => `- ${workload(id).title}: ${peer}${form ? `, ${form}` : ""}: ${reason}`,
    ),
  );
  return lines.length === 0 ? "" : `Not measured, for they failed or were wrong:\n\n${lines.join("\n")}`;
}

function coldTable(cold) {
  const rows = libraries
    .filter((name) => name !== "softlookup")
    .map((name) => [name, withSpread(summary(ratios(cold[name], cold.softlookup)))]);
  return `From the import to the first result, times as long as softlookup:\n\n${table([["", "cold start"], ...rows])}`;
}

function engineMarkdown({ engine, workloads, growth, pool, cold }) {
  return [
    `### ${engine}`,
    ...ownsIn(workloads).map((own) => `${own}: how many times as fast as\n\n${ratioTable(own, workloads)}`),
    refusals(workloads),
    growth?.exponent &&
      `Time grows as n^${growth.exponent.toFixed(2)} from n = ${growth.fittedFrom} to ${growth.points.at(-1).n}.`,
    pool &&
      `Two workers at n = 2048: ${withSpread(pool.shared)} as fast as one; two calls at once that share nothing get ${withSpread(pool.apart)} as much done as one.`,
    cold && coldTable(cold),
  ]
    .filter(Boolean)
    .join("\n\n");
}

export function reportMarkdown({ quick, engines, heap, sizes }) {
  return [
    quick && "A quick run: few rounds, the numbers are rough.",
    ...engines.map(engineMarkdown),
    heap &&
      `### WebAssembly memory at n = 8192, H = 1\n\n${table([
        ["", "MiB"],
        ...heap.map(({ name, form, bytes }) => [
          form ? `${name}, ${form}` : name,
          bytes === null ? "fails" : figure(bytes / 2 ** 20),
        ]),
      ])}`,
    sizes &&
      `### Download, gzipped\n\n${table([
        ["", "KB"],
        ...Object.entries(sizes).map(([name, bytes]) => [name, figure(bytes / 1000)]),
      ])}`,
  ]
    .filter(Boolean)
    .join("\n\n")
    .concat("\n");
}

const rounded = (x) => Number(x.toPrecision(3));

/** The medians that page and READMEs quote. */
export function quotable({ engines }, date) {
  const figures = ({ against, ...row }) => ({
    ...row,
    against: Object.fromEntries(
      Object.entries(against).map(([peer, { median: ratio }]) => [peer, rounded(ratio)]),
    ),
    share: rounded(row.share),
    error: rounded(row.error),
  });
  return {
    date,
    engines: engines.map(({ engine, workloads }) => ({
      engine,
      contenders: ownsIn(workloads).map((own) => ({
        name: own,
        rows: comparisons(own, workloads).map(figures),
      })),
    })),
  };
}

const milliseconds = ({ median, low, high }) =>
  [median, low, high].map((time) => time.toPrecision(4).padStart(10)).join("");

/** Every median with its quartiles, in milliseconds; of the meters the reading. */
export function timesText({ engines }) {
  const lines = [];
  for (const { engine, workloads, growth, cold } of engines) {
    lines.push(`${engine}: median and quartiles in ms`);
    for (const { id, results } of workloads) {
      lines.push(workload(id).title);
      for (const { peer, form, unit, amount, times } of results) {
        const reading = unit ? `  ${(amount / summary(times).median / 1e6).toFixed(1)} G${unit}/s` : "";
        const name = form ? `${peer}: ${form}` : peer;
        lines.push(`  ${name.padEnd(62)}${milliseconds(summary(times))}${reading}`);
      }
    }
    for (const { n, ...time } of growth?.points ?? [])
      lines.push(`  ${`growth, n=${n}`.padEnd(62)}${milliseconds(time)}`);
    for (const [name, each] of Object.entries(cold || {}))
      lines.push(`  ${`cold start, ${name}`.padEnd(62)}${milliseconds(summary(each))}`);
  }
  return lines.join("\n");
}
