/**
 * `records`: answers from records that stand in the Corefile.
 *
 * Source: coredns/records.
 */
import {
  type Answer,
  type Block,
  CLASS,
  definePlugin,
  fault,
  isWithin,
  type NameKey,
  namesWithin,
  PUBLICATIONS,
  type PublishedAnswer,
  type Query,
  type ResourceRecord,
  TYPE,
  toKey,
  typeOfData,
  type Use,
} from '@portolan/plugin';

/** The records of a zone, in the order of the Corefile. */
interface RecordZone {
  /** Lower case, absolute. */
  readonly name: NameKey;
  /** By their names in lower case. */
  readonly records: ReadonlyMap<NameKey, readonly ResourceRecord[]>;
  /** Names above those of records. */
  readonly parents: ReadonlySet<string>;
  readonly soa: ResourceRecord | undefined;
}

export default definePlugin({
  name: 'records',
  before: 'file',
  syntax: ['records [ZONES…] {\n    NAME [TTL] [IN] TYPE DATA…\n}'],
  examples: [
    'records {\n  @ 60 IN SOA ns hostmaster 1 7200 1800 86400 60\n  @ IN MX 10 mx1\n  mx1 60 A 192.0.2.1\n  a.b TXT text\n}',
    'records a.test b.test {\n  www CNAME web\n  web AAAA 2001:db8::1\n}',
  ],
  read: (cursor, block): readonly RecordZone[] => cursor.whole((uses) => readZones(uses, block)),
  create(zones, context) {
    const names = new Set(zones.map(({ name }) => name));
    const publishes = context.use(PUBLICATIONS).open(names);
    return {
      handler: {
        name: 'records',
        role: 'other',
        questions: namesWithin(names),
        answers: 'unchanged',
        publishes,
        async handle(query, next) {
          const zone = findZone(zones, query.key);
          return zone === undefined ? await next(query) : answer(query, zone);
        },
      },
      start() {
        publishes.replace(listAnswers(zones));
      },
    };
  },
});

/** The longest that holds a name. @param zones the longest first */
function findZone(zones: readonly RecordZone[], key: NameKey): RecordZone | undefined {
  return zones.find(({ name }) => isWithin(key, name));
}

/** Answers with records, for readers: of each type that a name has, and addresses of aliases. */
function* listAnswers(zones: readonly RecordZone[]): Iterable<PublishedAnswer> {
  for (const zone of zones)
    for (const [name, records] of zone.records) {
      if (findZone(zones, name) !== zone) continue;
      const own = records.map(({ data }) => typeOfData(data));
      const types = new Set(own.includes(TYPE.CNAME) ? [...own, TYPE.A, TYPE.AAAA] : own);
      for (const type of types) {
        const found = answer({ question: { name, type, class: CLASS.IN }, key: name }, zone);
        if (found.kind === 'records') yield { name, type, ...found };
      }
    }
}

/** @returns the longest first @throws a fault */
function readZones([use, second]: readonly Use[], block: Block): readonly RecordZone[] {
  if (use === undefined) return [];
  if (second !== undefined)
    throw fault(
      'this plugin can only be used once per Server Block',
      second.head,
      'Write all records in one use.',
    );
  const names = use.args.length === 0 ? block.zones : use.args.map(({ text }) => toKey(text));
  const longestFirst = [...new Set(names)].sort((one, other) => other.length - one.length);
  return longestFirst.map((name) => readZone(name, use, block));
}

function readZone(name: NameKey, { lines }: Use, block: Block): RecordZone {
  const records = new Map<NameKey, ResourceRecord[]>();
  const parents = new Set<string>();
  for (const line of lines) {
    const [first] = line;
    if (first === undefined) continue;
    try {
      // As in the original, quotation marks of the Corefile end where the record begins.
      const record = block.readRecord(line.map(({ text }) => text).join(' '), name);
      const owner = toKey(record.name);
      records.set(owner, [...(records.get(owner) ?? []), record]);
      for (let dot = owner.indexOf('.'); dot >= 0; dot = owner.indexOf('.', dot + 1))
        parents.add(owner.slice(dot + 1) || '.');
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw fault(message, first, 'Write a record as in a zone file, as in www 60 IN A 192.0.2.1.');
    }
  }
  const soa = [...records.values()].flat().find(({ data }) => data.kind === 'SOA');
  return { name, records, parents, soa };
}

function answer(
  { question, key }: Pick<Query, 'question' | 'key'>,
  { records, parents, soa }: RecordZone,
): Answer {
  const found: ResourceRecord[] = [];
  const followed = new Set<NameKey>();
  let name = key;
  for (;;) {
    const own = records.get(name) ?? [];
    const owner = followed.size === 0 ? question.name : name;
    const fitting = own.filter(({ data }) => typeOfData(data) === question.type);
    const alias = own.find(({ data }) => data.kind === 'CNAME');
    const shown = fitting.length === 0 && alias !== undefined ? [alias] : fitting;
    found.push(...shown.map((record) => ({ ...record, name: owner })));
    followed.add(name);
    if (fitting.length > 0 || alias?.data.kind !== 'CNAME') break;
    const target = toKey(alias.data.target);
    if (followed.has(target)) break;
    name = target;
  }
  if (found.length > 0) return { kind: 'records', records: found, additionals: [], authoritative: true };
  const exists = records.has(name) || parents.has(name);
  return { kind: exists ? 'nodata' : 'nxdomain', aliases: [], soa, authoritative: true };
}
