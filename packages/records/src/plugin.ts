/**
 * `records`: answers from records that stand in the Corefile.
 *
 * Source: coredns/records.
 */
import {
  absolute,
  type Block,
  definePlugin,
  fault,
  isWithin,
  type Query,
  type Reply,
  type Rr,
  type Use,
  within,
} from '@portolan/plugin';

/** The records of a zone, in the order of the Corefile. */
interface RecordZone {
  /** Lower case, absolute. */
  readonly name: string;
  /** By their names in lower case. */
  readonly records: ReadonlyMap<string, readonly Rr[]>;
  /** Names above those of records. */
  readonly parents: ReadonlySet<string>;
  readonly soa: Rr | undefined;
}

const TYPE = { CNAME: 5, SOA: 6 } as const;

export default definePlugin<readonly RecordZone[]>({
  api: 1,
  name: 'records',
  before: 'file',
  syntax: ['records [ZONES…] {\n    NAME [TTL] [IN] TYPE DATA…\n}'],
  examples: [
    'records {\n  @ 60 IN SOA ns hostmaster 1 7200 1800 86400 60\n  @ IN MX 10 mx1\n  mx1 60 A 192.0.2.1\n  a.b TXT text\n}',
    'records a.test b.test {\n  www CNAME web\n  web AAAA 2001:db8::1\n}',
  ],
  parse: readZones,
  create: (zones) => ({
    questions: within(zones.map(({ name }) => name)),
    async handle(query, next) {
      const zone = zones
        .filter(({ name }) => isWithin(query.name, name))
        .toSorted((one, other) => other.name.length - one.name.length)[0];
      return zone === undefined ? await next(query) : answer(query, zone);
    },
  }),
});

/** @throws a fault */
function readZones([use, second]: readonly Use[], block: Block): readonly RecordZone[] {
  if (use === undefined) return [];
  if (second !== undefined)
    throw fault(
      'this plugin can only be used once per Server Block',
      second.name,
      'Write all records in one use.',
    );
  const names = use.args.length === 0 ? block.zones : use.args.map(({ text }) => absolute(text));
  return [...new Set(names)].map((name) => readZone(name, use, block));
}

function readZone(name: string, { lines }: Use, block: Block): RecordZone {
  const records = new Map<string, Rr[]>();
  const parents = new Set<string>();
  for (const line of lines) {
    const [first] = line;
    if (first === undefined) continue;
    try {
      // As in the original, quotation marks of the Corefile end where the record begins.
      const record = block.readRecord(line.map(({ text }) => text).join(' '), name);
      const owner = absolute(record.name);
      records.set(owner, [...(records.get(owner) ?? []), record]);
      for (let dot = owner.indexOf('.'); dot >= 0; dot = owner.indexOf('.', dot + 1))
        parents.add(owner.slice(dot + 1) || '.');
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw fault(message, first, 'Write a record as in a zone file, as in www 60 IN A 192.0.2.1.');
    }
  }
  const soa = [...records.values()].flat().find(({ type }) => type === TYPE.SOA);
  return { name, records, parents, soa };
}

function answer(query: Query, { records, parents, soa }: RecordZone): Reply {
  const found: Rr[] = [];
  const followed = new Set<string>();
  let name = query.name.toLowerCase();
  for (;;) {
    const own = records.get(name) ?? [];
    const owner = followed.size === 0 ? query.name : name;
    const fitting = own.filter(({ type }) => type === query.type);
    const alias = own.find(({ type }) => type === TYPE.CNAME);
    found.push(
      ...(fitting.length === 0 && alias !== undefined ? [alias] : fitting).map((record) => ({
        ...record,
        name: owner,
      })),
    );
    followed.add(name);
    if (fitting.length > 0 || alias === undefined || followed.has(absolute(alias.data))) break;
    name = absolute(alias.data);
  }
  if (found.length > 0) return { kind: 'records', records: found, keep: 'until-changed' };
  const exists = records.has(name) || parents.has(name);
  return { kind: 'denied', exists, soa, keep: 'until-changed' };
}
