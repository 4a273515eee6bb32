/**
 * What the server promises to clients of every role, whatever other clients and upstream servers do: each row is a promise with its
 * figure. `npm run soak` measures it in each role, and `npm run docs` writes the table into the page about security.
 */
import type { Role } from '../support/roles.ts';
import { askDearly } from './scenes/dear-questions.ts';
import { floodWith } from './scenes/flood-of-names.ts';
import { askSilentServer } from './scenes/silent-server.ts';

export interface PromiseRow {
  /** The key of its figure among those of the scene. */
  readonly figure: string;
  /** What is promised, for the page. */
  readonly promise: string;
  /** The bound of the figure, and how the page shows it. */
  readonly bound: { readonly atMost: number } | { readonly atLeast: number };
  readonly shown: string;
}

export interface Scene {
  readonly name: string;
  readonly rows: readonly PromiseRow[];
  /** Measures the figures of all rows in one run. */
  measure(role: Role): Promise<Readonly<Record<string, number>>>;
}

export const SCENES: readonly Scene[] = [
  {
    name: 'a flood of address queries',
    measure: (role) => floodWith(role, 'A'),
    rows: [
      {
        figure: 'behind',
        promise:
          'Beside 12,000 random names a second of one client (A), half of the questions of another wait behind',
        // One batch, where the reader itself is saturated.
        bound: { atMost: 64 },
        shown: 'at most 64',
      },
      {
        figure: 'inTime',
        promise: 'The same: answered within 100 ms of processor time',
        bound: { atLeast: 99 },
        shown: 'at least 99 %',
      },
    ],
  },
  {
    name: 'a flood of queries for the chain',
    measure: (role) => floodWith(role, 'TXT'),
    rows: [
      {
        figure: 'behind',
        promise:
          'Beside as many names of type TXT, which the main thread forwards, half of the questions wait behind',
        bound: { atMost: 20 },
        shown: 'at most 20',
      },
      {
        figure: 'inTime',
        promise: 'The same: answered within 100 ms of processor time',
        bound: { atLeast: 99 },
        shown: 'at least 99 %',
      },
    ],
  },
  {
    name: 'dear questions',
    measure: askDearly,
    rows: [
      {
        figure: 'udp',
        promise: 'Processor time of a UDP query for a cached answer of 4,000 A, 230 TXT or 2,500 SRV records',
        bound: { atMost: 300 },
        shown: 'at most 300 us',
      },
      {
        figure: 'tcp',
        promise: 'The same over TCP',
        bound: { atMost: 1000 },
        shown: 'at most 1 ms',
      },
      {
        figure: 'file',
        promise: 'Processor time of a UDP query for a name with 1,000 A records in a zone of `file`',
        bound: { atMost: 300 },
        shown: 'at most 300 us',
      },
    ],
  },
  {
    name: 'a silent server',
    measure: askSilentServer,
    rows: [
      {
        figure: 'answered',
        promise:
          'Beside 8,000 names a second in a zone whose server is silent, names of other zones are answered',
        bound: { atLeast: 95 },
        shown: 'at least 95 %',
      },
      {
        figure: 'lines',
        promise: 'The same: lines of the log',
        bound: { atMost: 10 },
        shown: 'at most 10 a minute',
      },
      {
        figure: 'megabytes',
        promise: 'The same: resident memory',
        bound: { atMost: 136 },
        shown: 'at most 136 MB',
      },
    ],
  },
];

export function isKept({ bound }: PromiseRow, figure: number): boolean {
  return 'atMost' in bound ? figure <= bound.atMost : figure >= bound.atLeast;
}
