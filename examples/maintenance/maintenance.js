/**
 * `maintenance`: answers a zone with a fixed address during given hours, and passes queries on at other times.
 *
 *     maintenance ZONE ADDRESS HH:MM-HH:MM
 */
import { isIP } from 'node:net';
import { CLASS, definePlugin, fault, isWithin, namesWithin, TYPE, toKey } from '@portolan/plugin';

/** Seconds. */
const TTL = 30;
const DAY_MINUTES = 24 * 60;
const HOURS = /^(\d\d):(\d\d)-(\d\d):(\d\d)$/;

export default definePlugin({
  name: 'maintenance',
  // Behind it, what was passed on before the hours would be repeated within them.
  before: 'cache',
  syntax: ['maintenance ZONE ADDRESS HH:MM-HH:MM'],
  examples: [
    'maintenance shop.example.org 192.0.2.80 22:00-06:00',
    'maintenance a.example.org 2001:db8::80 12:00-12:30\nmaintenance b.example.org 192.0.2.80 00:00-24:00',
  ],
  read: (cursor) => cursor.whole((uses) => uses.map(readRule)),
  create: (rules, { clock }) => ({
    handler: {
      name: 'maintenance',
      role: 'other',
      answers: 'unchanged',
      questions: namesWithin(new Set(rules.map(({ zone }) => zone))),
      handle(query, next) {
        const rule = rules.find(({ zone }) => isWithin(query.key, zone));
        if (rule === undefined) return next(query);
        // Readers must not repeat it: another hour has another answer.
        query.forbidStoring();
        return isWithinHours(rule, clock.now()) ? answer(query.question, rule) : next(query);
      },
    },
  }),
});

function readRule({ head, args }) {
  const [zone, address, hours] = args;
  if (hours === undefined || args.length > 3)
    throw fault(
      'not a zone, an address and hours',
      head,
      'Write as in maintenance a.test 192.0.2.1 22:00-06:00.',
    );
  const family = isIP(address.text);
  if (family === 0) throw fault(`not an address: ${address.text}`, address, 'Write as in 192.0.2.1.');
  const [from, to] = readHours(hours);
  const kind = family === 4 ? 'A' : 'AAAA';
  return { zone: toKey(zone.text), data: { kind, address: address.text }, from, to };
}

/** Minutes of the day, in UTC. */
function readHours(word) {
  const [, ...numbers] = HOURS.exec(word.text) ?? [];
  const [fromHour, fromMinute, toHour, toMinute] = numbers.map(Number);
  const [from, to] = [fromHour * 60 + fromMinute, toHour * 60 + toMinute];
  if (numbers.length === 4 && fromMinute < 60 && toMinute < 60 && from < DAY_MINUTES && to <= DAY_MINUTES)
    return [from, to];
  throw fault(`not hours: ${word.text}`, word, 'Write hours of UTC, as in 22:00-06:00.');
}

/** @param now milliseconds since the Unix epoch */
function isWithinHours({ from, to }, now) {
  const minute = Math.floor(now / 60_000) % DAY_MINUTES;
  return from < to ? minute >= from && minute < to : minute >= from || minute < to;
}

function answer({ name, type }, { data }) {
  if (type !== TYPE[data.kind]) return { kind: 'nodata', aliases: [], soa: undefined, authoritative: true };
  const records = [{ name, class: CLASS.IN, ttl: TTL, data }];
  return { kind: 'records', records, additionals: [], authoritative: true };
}
