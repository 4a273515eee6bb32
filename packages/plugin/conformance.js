/**
 * The conformance kit: what a host relies on, asked of a plugin with random questions.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { definePlugin } from './index.js';

const START_MILLISECONDS = 10_000;
const DEADLINE_MILLISECONDS = 5_000;
/** A call that computes for longer keeps all other clients waiting. */
const BLOCKING_MILLISECONDS = 100;
/** So does one that waits. It has longer, for a machine that is busy with other work makes all calls slow. */
const WAITING_MILLISECONDS = 1_000;
const TYPES = [1, 2, 5, 6, 12, 15, 16, 28, 33, 65, 255];

export async function testPlugin(module, { questions = 2000, seed = 1 } = {}) {
  try {
    definePlugin(module);
  } catch (error) {
    return [`The module has a wrong shape: ${error.message}.`];
  }
  const faults = [];
  for (const example of module.examples) await testExample(module, example, { questions, seed }, faults);
  return faults;
}

async function testExample(module, example, settings, faults) {
  const report = (text) => faults.push(`${JSON.stringify(example)}: ${text}`);
  const before = countResources();
  let instance;
  try {
    const options = module.parse(readUses(example, module.name), {
      zones: ['example.org.'],
      resolve: (path) => path,
      readRecord,
      readPattern: (text) => new RegExp(text),
    });
    instance = module.create(options, makeContext(module.name));
    const controller = new AbortController();
    const started = Promise.resolve(instance.start?.(controller.signal)).then(() => true);
    if (!(await inTime(started, START_MILLISECONDS))) {
      controller.abort();
      report(`It does not start within ${START_MILLISECONDS / 1000} s.`);
    } else await askAll(instance, settings, report);
  } catch (error) {
    report(`It throws when it is made or started: ${messageOf(error)}.`);
  }
  try {
    if (
      !(await inTime(
        Promise.resolve(instance?.stop?.()).then(() => true),
        START_MILLISECONDS,
      ))
    )
      report('It does not stop.');
  } catch (error) {
    report(`It throws when it is stopped: ${messageOf(error)}.`);
  }
  const left = await leftBehind(before);
  if (left.length > 0) report(`It leaves something running after its end: ${left.join(', ')}.`);
}

async function askAll(instance, { questions, seed }, report) {
  const random = randomFrom(seed);
  const zones = instance.questions?.kind === 'within' ? instance.questions.zones : [];
  const seen = new Set();
  // One question is enough to find each kind of fault.
  const once = (text) => {
    const kind = text.split(' ', 2).join(' ');
    if (!seen.has(kind)) report(text);
    seen.add(kind);
  };
  for (let turn = 0; turn < questions; turn += 1) {
    const query = makeQuery(makeName(random, zones), TYPES[Math.floor(random() * TYPES.length)]);
    // What is slow once is slow for all questions.
    if ((await askOne(instance, query, once)) === 'slow') return;
  }
}

async function askOne(instance, query, once) {
  const behind = Object.freeze({ kind: 'opaque', rcode: 0, records: [], authorities: [] });
  let passed;
  const next = (given) => {
    passed = given;
    return Promise.resolve(behind);
  };
  const blocked = measureBlocking();
  let pending;
  try {
    pending = Promise.resolve(instance.handle(query, next));
    const taken = blocked();
    if (taken !== undefined) {
      once(`It blocks: a call took ${Math.round(taken)} ms.`);
      return 'slow';
    }
    const reply = await inTime(pending, DEADLINE_MILLISECONDS);
    if (reply === undefined) {
      once(`It gives no reply within ${DEADLINE_MILLISECONDS / 1000} s to ${describe(query)}.`);
      return 'slow';
    }
    if (typeof reply?.kind !== 'string') once(`Its reply to ${describe(query)} has no kind.`);
    else if (!includes(instance.questions, query) && (reply !== behind || passed !== query))
      once(`It acts on a question that it does not state: ${describe(query)}.`);
  } catch (error) {
    once(`It throws for ${describe(query)}: ${messageOf(error)}.`);
  }
  return 'done';
}

/** @returns a function that gives the milliseconds since, if they are too many */
function measureBlocking() {
  const began = performance.now();
  const usedBefore = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(usedBefore);
    const computed = (user + system) / 1000;
    const passed = performance.now() - began;
    if (computed > BLOCKING_MILLISECONDS) return computed;
    return passed > WAITING_MILLISECONDS ? passed : undefined;
  };
}

function includes(questions, { name, type }) {
  if (questions?.kind === 'all') return true;
  if (questions?.kind === 'any name') return questions.types.includes(type);
  if (questions?.kind !== 'within') return false;
  const lower = name.toLowerCase();
  const isWithin = questions.zones.some(
    (zone) => zone === '.' || lower === zone || lower.endsWith(`.${zone}`),
  );
  return isWithin && (questions.types === undefined || questions.types.includes(type));
}

/** Names inside and outside the stated zones, names that only look like them, and odd labels. */
function makeName(random, zones) {
  const pick = (list) => list[Math.floor(random() * list.length)] ?? '';
  const label = () =>
    pick(['a', 'www', 'WWW', '*', '_tcp', 'x-y', 'xn--bcher-kva', '\\000', '1', 'constructor']);
  const base = pick([
    ...zones,
    ...zones.map((zone) => `x${zone}`),
    'example.org.',
    'example.com.',
    '.',
    'in-addr.arpa.',
  ]);
  const labels = Array.from({ length: Math.floor(random() * 4) }, label);
  return [...labels, base === '.' ? '' : base].join('.') || '.';
}

function makeQuery(name, type) {
  return {
    ...{ name, type, zone: 'example.org.', signal: new AbortController().signal },
    client: { address: '192.0.2.1', transport: 'udp' },
    with: (changes) => makeQuery(changes.name ?? name, changes.type ?? type),
  };
}

function makeContext(name) {
  const silent = () => {};
  return {
    log: { error: silent, warn: silent, info: silent, debug: silent },
    server: 'dns://:53',
    counter: (counter) => {
      if (!/^[a-z][a-z0-9_]*$/.test(counter))
        throw new TypeError(`not a name of a counter of ${name}: ${counter}`);
      return { add: silent };
    },
    lookUp: async () => ({ kind: 'rcode', rcode: 5 }),
    changed: silent,
    upstream: (name) => ({ name, ask: async () => ({ kind: 'opaque', rcode: 0, records: [] }) }),
    watch: async () => ({ objects: new Map(), state: 'followed' }),
  };
}

const RECORD_TYPES = new Map(
  Object.entries({ A: 1, NS: 2, CNAME: 5, SOA: 6, PTR: 12, MX: 15, TXT: 16, AAAA: 28, SRV: 33 }),
);

/** Of a host's reader of records only what examples need: names in the data stay as they are. */
function readRecord(text, origin) {
  const [, owner, ttl = '3600', type, data] =
    /^(\S+)\s+(?:(\d+)\s+)?(?:IN\s+)?([A-Z]+)\s+(.+)$/i.exec(text) ?? [];
  const number = RECORD_TYPES.get(type?.toUpperCase());
  if (number === undefined) throw new Error(`not a record: ${text}`);
  const end = origin === '.' ? '' : origin;
  const name = owner === '@' ? origin : owner.endsWith('.') ? owner : `${owner}.${end}`;
  return { name, type: number, ttl: Number(ttl), data };
}

/** Words and braces of an example, with quotation marks as in a Corefile. */
function readUses(text, name) {
  const uses = [];
  let open;
  text.split('\n').forEach((line, index) => {
    const words = [...line.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g)].map(([, quoted, bare]) => ({
      text: quoted?.replaceAll('\\"', '"') ?? bare,
      at: `example:${index + 1}`,
    }));
    if (words.length === 0) return;
    if (open !== undefined) {
      if (words[0].text === '}') open = undefined;
      else open.lines.push(words);
      return;
    }
    if (words[0].text !== name) throw new Error(`an example of ${name} begins with ${words[0].text}`);
    const opens = words.at(-1).text === '{';
    const use = { name: words[0], args: words.slice(1, opens ? -1 : undefined), lines: [] };
    uses.push(use);
    if (opens) open = use;
  });
  return uses;
}

/** @returns undefined if the time is over first */
async function inTime(promise, milliseconds) {
  const end = new AbortController();
  const timer = wait(milliseconds, undefined, { signal: end.signal }).catch(() => undefined);
  try {
    return await Promise.race([promise, timer]);
  } finally {
    end.abort();
  }
}

function countResources() {
  const counts = new Map();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

/** Closing takes some turns of the event loop. */
async function leftBehind(before) {
  let left = [];
  for (let turn = 0; turn < 100; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    left = [...countResources()].flatMap(([kind, count]) => (count > (before.get(kind) ?? 0) ? [kind] : []));
    if (left.length === 0) return left;
  }
  return left;
}

/** Mulberry32: the same questions for the same seed. */
function randomFrom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const describe = ({ name, type }) => `${name} of type ${type}`;
const messageOf = (error) => (error instanceof Error ? error.message : String(error));
