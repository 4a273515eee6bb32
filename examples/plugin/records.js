/**
 * `records`: answers from records that stand in the Corefile. The names of its zones are known completely, unless they fall through.
 *
 *     records [ZONES…] {
 *         NAME [TTL] TYPE DATA…
 *         fallthrough
 *     }
 */
import { definePlugin, fault, within } from '@portolan/plugin';

const TYPES = new Map([
  ['A', 1],
  ['NS', 2],
  ['CNAME', 5],
  ['SOA', 6],
  ['PTR', 12],
  ['MX', 15],
  ['TXT', 16],
  ['AAAA', 28],
  ['SRV', 33],
]);
const ANY = 255;
const DEFAULT_TTL = 3600;

export default definePlugin({
  api: 1,
  name: 'records',
  before: 'hosts',
  syntax: ['records [ZONES…] {\n    NAME [TTL] TYPE DATA…\n    fallthrough\n}'],
  examples: [
    'records {\n  www 60 A 192.0.2.1\n  @ MX 10 mail.example.org.\n  note TXT "two words"\n}',
    'records a.test b.test {\n  www AAAA 2001:db8::1\n  fallthrough\n}',
  ],

  parse(uses, block) {
    return uses.map(({ args, lines }) => {
      const zones = args.length === 0 ? block.zones : args.map(({ text }) => absolute(text.toLowerCase()));
      const isFallthrough = (line) => line.length === 1 && line[0].text === 'fallthrough';
      const records = lines
        .filter((line) => !isFallthrough(line))
        .flatMap((line) => zones.map((zone) => readRecord(line, zone)));
      return { zones, records, fallsThrough: lines.some(isFallthrough) };
    });
  },

  create(rules, context) {
    const zones = rules.flatMap((rule) => rule.zones);
    const answered = context.counter('answers_total', 'Answers from records of the Corefile.');
    return {
      questions: within(zones),
      async handle(query, next) {
        const name = query.name.toLowerCase();
        for (const rule of rules) {
          const zone = rule.zones.find((each) => isWithin(name, each));
          if (zone === undefined) continue;
          const own = rule.records.filter((record) => record.name === name);
          const fitting = own.filter(({ type }) => type === query.type || query.type === ANY || type === 5);
          if (fitting.length > 0) {
            answered.add(query);
            const records = fitting.map((record) => ({ ...record, name: query.name }));
            return { kind: 'records', records, keep: 'until-changed' };
          }
          const exists = own.length > 0 || rule.records.some((record) => isWithin(record.name, name));
          if (exists || !rule.fallsThrough)
            return {
              kind: 'denied',
              exists: exists || name === zone,
              soa: soaOf(zone),
              keep: 'until-changed',
            };
        }
        return next(query);
      },
    };
  },
});

/** `NAME [TTL] TYPE DATA…`; `@` is the zone itself. */
function readRecord(line, zone) {
  const [owner, ...rest] = line;
  const hasTtl = /^\d+$/.test(rest[0]?.text ?? '');
  const [type, ...data] = hasTtl ? rest.slice(1) : rest;
  const number = TYPES.get(type?.text.toUpperCase() ?? '');
  if (number === undefined || data.length === 0)
    throw fault(
      `not a record: ${owner.text}`,
      type ?? owner,
      'Write NAME [TTL] TYPE DATA, as in www 60 A 192.0.2.1.',
    );
  const texts = data.map(({ text }) => (number === 16 ? JSON.stringify(text) : text));
  return {
    name: owner.text === '@' ? zone : absolute(owner.text.toLowerCase(), zone),
    ...{ type: number, ttl: hasTtl ? Number(rest[0].text) : DEFAULT_TTL, data: texts.join(' ') },
  };
}

function absolute(name, zone = '.') {
  if (name.endsWith('.')) return name;
  return zone === '.' ? `${name}.` : `${name}.${zone}`;
}

function isWithin(name, zone) {
  return zone === '.' || name === zone || name.endsWith(`.${zone}`);
}

function soaOf(zone) {
  return { name: zone, type: 6, ttl: 60, data: `ns.${zone} hostmaster.${zone} 1 7200 1800 86400 60` };
}
