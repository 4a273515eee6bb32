/**
 * Uses of directives, queries and answers, as a host gives them to a plugin.
 */
import { presentRecord } from '@portolan/dns/present.ts';
import { Query } from '@portolan/kernel/chain/query.ts';
import { CLIENT, QUERY_HEADER } from '@portolan/kernel/chain/testing/queries.ts';
import {
  type Answer,
  type Block,
  CLASS,
  type Client,
  COUNTERS,
  type Context,
  type Counters,
  type Cursor,
  EMPTY_ANSWER,
  type NamePublications,
  type Next,
  type Plugin,
  type PluginDefinition,
  PUBLICATIONS,
  type PublishedAnswer,
  type RecordData,
  type ResourceRecord,
  type Service,
  STORED_ANSWERS,
  toKey,
  toName,
  toWhole,
  type Use,
} from '@portolan/plugin';
import { parseRecord } from '@portolan/sources/zone-files/zone-file.ts';

const word = (text: string) => ({ text, position: { file: 'Corefile', line: 1 } });

/** @param line a directive with its arguments @param lines those of its block */
export function makeUse(line: string, ...lines: readonly string[]): Use {
  const [head = '', ...args] = line.split(' ');
  return { head: word(head), args: args.map(word), lines: lines.map((each) => each.split(' ').map(word)) };
}

/** A cursor over uses, for plugins that read them at once. */
export function makeCursor(...uses: readonly Use[]): Cursor {
  const whole: Cursor['whole'] = (read) => read(uses);
  return { whole } satisfies Partial<Cursor> as unknown as Cursor;
}

/** The server block of `example.org`. */
export const BLOCK: Block = {
  zones: [toKey('example.org.')],
  resolve: (path) => `/root/${path}`,
  readRecord(text, origin) {
    const record = parseRecord(text, origin);
    if ('fault' in record) throw new Error(`not a record: ${record.word ?? text}`);
    return record;
  },
  readPattern: (text) => new RegExp(text),
};

/** @param client its address and transport */
export function makeQuery(name: string, type = 1, client: Partial<Client> = {}): Query {
  const question = { name: toName(name), type, class: CLASS.IN };
  const sender = { ...CLIENT, address: '192.0.2.1', ...client };
  return new Query(question, { header: QUERY_HEADER, question, edns: undefined }, sender);
}

export function makeRecord(name: string, data: RecordData, ttl = 60): ResourceRecord {
  return { name: toName(name), class: CLASS.IN, ttl, data };
}

/** The answer of the plugins behind. */
export function makeAnswer(
  rcode: number,
  answers: readonly ResourceRecord[] = [],
  authorities: readonly ResourceRecord[] = [],
): Answer {
  return { ...EMPTY_ANSWER, rcode, answers, authorities };
}

/** Makes a plugin from uses of its directive. */
export function makePlugin<Options>(
  definition: PluginDefinition<string, Options>,
  context: Context,
  ...uses: readonly Use[]
): Plugin {
  return definition.create(definition.read(makeCursor(...uses), BLOCK), context);
}

/** Asks a plugin. */
export async function askPlugin({ handler }: Plugin, query: Query, behind: Answer): Promise<Answer> {
  if (handler === undefined) throw new TypeError('no handler');
  const next: Next = async () => behind;
  return await handler.handle(query, next);
}

/** An answer in short: its kind or code, and its records as lines of a zone file. */
export function describeAnswer(answer: Answer): readonly string[] {
  if (answer.kind === 'drop') return ['drop'];
  const { answers, authorities } = toWhole(answer);
  return [answer.kind, ...[...answers, ...authorities].map(presentRecord)];
}

/** A host that logs to a list and counts by the names of counters. */
export function makeContext(): Context & {
  readonly lines: readonly string[];
  readonly counts: ReadonlyMap<string, number>;
  readonly changes: number;
  /** What the plugin published last. */
  readonly published: readonly PublishedAnswer[];
} {
  const lines: string[] = [];
  const counts = new Map<string, number>();
  const line = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
  let changes = 0;
  const unused = () => {
    throw new Error('not used');
  };
  const drop = () => {
    changes += 1;
  };
  const family: Counters['family'] = (name) => ({
    with: () => ({ key: name, add: () => void counts.set(name, (counts.get(name) ?? 0) + 1) }),
  });
  const published: PublishedAnswer[] = [];
  const publications: NamePublications = {
    open: (zones, own = []) => ({
      zones,
      counts: own,
      replace(answers) {
        published.splice(0, published.length, ...answers);
        return true;
      },
    }),
  };
  const services = new Map<string, object>([
    [PUBLICATIONS.name, publications],
    [COUNTERS.name, { family }],
    [STORED_ANSWERS.name, { drop }],
  ]);
  return {
    lines,
    counts,
    published,
    zones: BLOCK.zones,
    server: 'dns://:53',
    clock: { now: Date.now, monotonic: () => performance.now(), after: unused },
    chain: unused,
    lookUp: unused,
    changed: unused,
    log: { error: line('error'), warn: line('warn'), info: line('info'), debug: line('debug') },
    use<Value>({ name }: Service<Value>): Value {
      const service = services.get(name);
      if (service === undefined) throw new TypeError(`not used: ${name}`);
      // The service of this name.
      return service as Value;
    },
    get changes() {
      return changes;
    },
  };
}
