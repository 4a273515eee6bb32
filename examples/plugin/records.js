/**
 * `records`: answers from records that stand in the Corefile. The names of its zones are known completely, unless they fall through.
 *
 *     records [ZONES…] {
 *         NAME [TTL] TYPE DATA…
 *         fallthrough
 *     }
 */
import {
  CLASS,
  COUNTERS,
  definePlugin,
  fault,
  isWithin,
  namesWithin,
  TYPE,
  toKey,
  toName,
  typeOfData,
} from '@portolan/plugin';

export default definePlugin({
  name: 'records',
  before: 'hosts',
  syntax: ['records [ZONES…] {\n    NAME [TTL] TYPE DATA…\n    fallthrough\n}'],
  examples: [
    'records {\n  www 60 A 192.0.2.1\n  @ MX 10 mail.example.org.\n  note TXT "two words"\n}',
    'records a.test b.test {\n  www AAAA 2001:db8::1\n  fallthrough\n}',
  ],

  read: (cursor, block) =>
    cursor.whole((uses) =>
      uses.map(({ args, lines }) => {
        const zones = args.length === 0 ? block.zones : args.map(({ text }) => toKey(text));
        const isFallthrough = (line) => line.length === 1 && line[0].text === 'fallthrough';
        const records = lines
          .filter((line) => !isFallthrough(line))
          .flatMap((line) => zones.map((zone) => readLine(line, zone, block)));
        return { zones, records, fallsThrough: lines.some(isFallthrough) };
      }),
    ),

  create(rules, context) {
    const zones = new Set(rules.flatMap((rule) => rule.zones));
    const answered = context
      .use(COUNTERS)
      .family('coredns_records_answers_total', 'Answers from records of the Corefile.')
      .with();
    const handle = (query, next) => {
      const { question, key } = query;
      for (const rule of rules) {
        const zone = rule.zones.find((each) => isWithin(key, each));
        if (zone === undefined) continue;
        const own = rule.records.filter(({ name }) => toKey(name) === key);
        const fitting = own.filter(({ data }) => isAsked(data, question.type));
        if (fitting.length > 0) {
          query.count(answered);
          const records = fitting.map((record) => ({ ...record, name: question.name }));
          return { kind: 'records', records, additionals: [], authoritative: true };
        }
        const isAbove = rule.records.some(({ name }) => isWithin(toKey(name), key));
        if (!isAbove && rule.fallsThrough) continue;
        const exists = isAbove || key === zone;
        return { kind: exists ? 'nodata' : 'nxdomain', aliases: [], soa: makeSoa(zone), authoritative: true };
      }
      return next(query);
    };
    return {
      handler: {
        name: 'records',
        role: 'other',
        questions: namesWithin(zones),
        answers: 'unchanged',
        handle,
      },
    };
  },
});

function isAsked(data, type) {
  return type === TYPE.ANY || data.kind === 'CNAME' || typeOfData(data) === type;
}

/** `NAME [TTL] TYPE DATA…`; `@` is the zone itself. */
function readLine(line, zone, block) {
  const [owner, ...words] = line;
  const texts = words.map(({ text }) => (text.includes(' ') ? JSON.stringify(text) : text));
  try {
    return block.readRecord([owner.text, ...texts].join(' '), zone);
  } catch {
    const remedy = 'Write NAME [TTL] TYPE DATA, as in www 60 A 192.0.2.1.';
    throw fault(`not a record: ${owner.text}`, owner, remedy);
  }
}

function makeSoa(zone) {
  const data = {
    kind: 'SOA',
    primary: toName(zone === '.' ? 'ns.' : `ns.${zone}`),
    mailbox: toName(zone === '.' ? 'hostmaster.' : `hostmaster.${zone}`),
    serial: 1,
    refresh: 7200,
    retry: 1800,
    expire: 86_400,
    minimum: 60,
  };
  return { name: zone, class: CLASS.IN, ttl: 60, data };
}
