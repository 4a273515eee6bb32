/**
 * A case of CoreDNS's recorded behaviour: a Corefile, its environment, and steps with their results.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { readRecording } from '../../support/recordings.ts';

const FOLDER = 'test/coredns';

/** How a scripted server answers: the first rule that fits. Every part that is left out fits all. */
export interface UpstreamRule {
  /** A regular expression, searched in the name in lower case. */
  readonly name?: string;
  readonly type?: string;
  readonly proto?: 'udp' | 'tcp' | 'tls' | '*';
  readonly rcode?: string;
  readonly aa?: boolean;
  readonly tc?: boolean;
  readonly ad?: boolean;
  readonly ra?: boolean;
  readonly delay_ms?: number;
  readonly drop?: boolean;
  /** Only for the first so many questions. */
  readonly times?: number;
  readonly wrong_id?: boolean;
  readonly wrong_question?: boolean;
  /** Records as text; `{name}` is the name as asked. */
  readonly answer?: readonly string[];
  readonly authority?: readonly string[];
  readonly additional?: readonly string[];
}

export interface UpstreamScript {
  readonly rules?: readonly UpstreamRule[];
  readonly down?: boolean;
  readonly tls?: boolean;
}

export interface AskStep {
  /** Null: no question. */
  readonly name: string | null;
  readonly type?: string;
  readonly class?: string;
  readonly opcode?: string;
  readonly tcp?: boolean;
  readonly tls?: boolean;
  /** By gRPC, on TLS if `tls` says so. */
  readonly grpc?: boolean;
  readonly rd?: boolean;
  readonly cd?: boolean;
  readonly ad?: boolean;
  readonly aa?: boolean;
  readonly do?: boolean;
  readonly edns?: number;
  readonly version?: number;
  readonly options?: readonly (readonly [string, string])[];
  readonly from?: string;
  readonly to?: string;
  readonly port?: string | number;
  /** Seconds. */
  readonly wait?: number;
  readonly raw?: string;
  /** A header of the PROXY protocol, in hexadecimal digits, before the message or at the start of the connection. */
  readonly proxy?: string;
  readonly authority?: readonly string[];
  readonly ordered?: boolean;
  readonly repeat?: number;
  readonly collect?: boolean;
  readonly nowait?: boolean;
}

export interface HttpStep {
  readonly port: string | number;
  readonly path: string;
  readonly host?: string;
  readonly method?: string;
  readonly wait?: number;
}

export interface SeenStep {
  readonly index: number;
  readonly short?: boolean;
  readonly sorted?: boolean;
  readonly count?: boolean;
}

export interface LogStep {
  readonly match: string;
  readonly count?: boolean;
  readonly last?: number;
  readonly sorted?: boolean;
  readonly wait?: number;
}

export interface Step {
  readonly ask?: AskStep;
  readonly write?: { readonly file: string; readonly text: string };
  readonly remove?: string;
  readonly link?: { readonly file: string; readonly to: string };
  readonly sleep?: number;
  readonly http?: HttpStep;
  readonly metrics?: {
    readonly port: string | number;
    readonly host?: string;
    readonly families: readonly string[];
  };
  readonly signal?: string;
  readonly exit?: number;
  readonly upstream?: UpstreamScript & { readonly index: number };
  readonly seen?: number | SeenStep;
  readonly object?: { readonly apply?: string; readonly delete?: string };
  readonly log?: string | LogStep;
}

export interface RecordedCase {
  readonly name: string;
  readonly about: string;
  readonly corefile?: string;
  readonly files?: Readonly<Record<string, string>>;
  /** Files that are no text, in base64. */
  readonly octets?: Readonly<Record<string, string>>;
  readonly links?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
  readonly upstreams?: readonly UpstreamScript[];
  readonly objects?: string;
  readonly certs?: boolean;
  readonly stdin?: string;
  readonly start_wait?: number;
  readonly settle?: number;
  /** It changes the objects of the cluster, so no other may run meanwhile. */
  readonly alone?: boolean;
  readonly starts?: boolean;
  readonly steps?: readonly Step[];
}

/** What a step gave; which parts there are depends on its kind. */
export type StepResult = Readonly<Record<string, unknown>>;

export type StartResult =
  | { readonly ok: true }
  | { readonly exit: number | string | null; readonly output: string };

export interface StepWithResult extends Step {
  readonly result: StepResult;
  /** Seconds that the steps so far took beyond their rests. Recordings have none: they were made without a load. */
  readonly late?: number;
}

export interface CaseResult {
  readonly name: string;
  readonly start: StartResult;
  readonly steps?: readonly StepWithResult[];
}

/** A case with what was recorded of it. */
export interface RecordedPair {
  readonly spec: RecordedCase;
  readonly expected: CaseResult;
}

/** The names of the groups of cases. */
export function listGroups(): readonly string[] {
  return readdirSync(`${FOLDER}/cases`)
    .filter((file) => file.endsWith('.jsonl'))
    .map((file) => file.slice(0, -'.jsonl'.length))
    .sort();
}

export function readGroup(group: string): readonly RecordedPair[] {
  const cases = readRecording<RecordedCase>(`${FOLDER}/cases/${group}.jsonl`);
  const recorded = readRecording<CaseResult>(`${FOLDER}/golden/${group}.jsonl`);
  const results = new Map(recorded.map((each) => [each.name, each]));
  return cases.map((spec) => {
    const expected = results.get(spec.name);
    if (expected === undefined) throw new Error(`nothing recorded: ${spec.name}`);
    return { spec, expected };
  });
}

/** Files of our own. */
export function read<Value>(path: string): Value {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as Value;
}
