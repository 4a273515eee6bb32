/**
 * The conformance kit: what a host relies on, asked of a plugin with random questions.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { makeCursor } from './cursor.js';
import { ASKED_TYPES, BEHIND, BLOCK, KitQuery, makeHost } from './host.js';
import { API, CLASS, definePlugin, findLimitsFault, isWithin, isWithinAny, toKey, toName } from './index.js';

const START_MILLISECONDS = 10_000;
const DEADLINE_MILLISECONDS = 5_000;
/** A call that computes for longer keeps all other clients waiting. */
const BLOCKING_MILLISECONDS = 100;
/** So does one that waits. */
const WAITING_MILLISECONDS = 1_000;
const HOUR = 3_600_000;
/** Between the two times that a question is asked: a plugin may know a date. */
const CENTURY = 100 * 365 * 24 * HOUR;
const CLIENTS = [
  { address: '192.0.2.1', port: 5353, transport: 'udp' },
  { address: '198.51.100.7', port: 5354, transport: 'udp' },
];
const CODES = ['refused', 'servfail', 'notimp', 'formerr', 'overloaded', 'drop'];

export async function testPlugin(definition, { questions = 2000, seed = 1 } = {}) {
  try {
    definePlugin(definition);
  } catch (error) {
    return [`The definition has a wrong shape: ${error.message}.`];
  }
  if (definition.api !== API) return [`It is for API ${definition.api}: make it by definePlugin.`];
  const faults = [];
  for (const example of definition.examples)
    await testExample(definition, example, { questions, seed }, faults);
  return faults;
}

async function testExample(definition, example, settings, faults) {
  const report = (text) => faults.push(`${JSON.stringify(example)}: ${text}`);
  const before = countResources();
  const host = makeHost();
  let plugin;
  try {
    const { cursor, faults: found } = makeCursor(example, definition.name);
    const options = definition.read(cursor, BLOCK);
    if (found.length > 0) throw new Error(found.join('; '));
    plugin = definition.create(options, host.context);
    const started = Promise.resolve(plugin.start?.()).then(() => true);
    if (!(await inTime(started, START_MILLISECONDS))) {
      plugin.proceed?.();
      report(`It does not start within ${START_MILLISECONDS / 1000} s.`);
    } else if (plugin.handler !== undefined) {
      await askAll(plugin.handler, host, settings, report);
      await comparePublished(plugin.handler, host, report);
    }
  } catch (error) {
    report(`It throws when it is made or started: ${describeError(error)}.`);
  }
  try {
    const stopped = Promise.resolve(plugin?.stop?.('ending')).then(() => true);
    if (!(await inTime(stopped, START_MILLISECONDS))) report('It does not stop.');
  } catch (error) {
    report(`It throws when it is stopped: ${describeError(error)}.`);
  }
  const left = [...(await leftBehind(before)), ...Array.from(host.timers, () => 'Timer of context.clock')];
  if (left.length > 0) report(`It leaves something running after its end: ${left.join(', ')}.`);
}

async function askAll(handler, host, { questions, seed }, report) {
  const limitsFault = handler.limits && findLimitsFault(handler.limits);
  if (limitsFault !== undefined) report(`The host cannot apply its ${limitsFault}.`);
  const random = randomFrom(seed);
  const zones = [...handler.questions.matches()].flatMap(({ name }) =>
    name.kind === 'any' ? [] : [name.name],
  );
  const seen = new Set();
  // One question is enough to find each kind of fault.
  const once = (text) => {
    const kind = text.split(' ', 2).join(' ');
    if (!seen.has(kind)) report(text);
    seen.add(kind);
  };
  const asked = Array.from({ length: questions }, () => {
    const name = makeName(random, zones);
    const type = ASKED_TYPES[Math.floor(random() * ASKED_TYPES.length)];
    return { name: toName(name), type, class: CLASS.IN };
  });
  const askEach = async (client) => {
    const answers = [];
    for (const question of asked) {
      const answer = await askOne(handler, new KitQuery(question, client), once);
      // What is slow once is slow for all questions.
      if (answer === 'slow') return undefined;
      answers.push(answer);
      host.now += Math.floor(random() * 24 * HOUR);
    }
    return answers;
  };
  const early = await askEach(CLIENTS[0]);
  host.now += CENTURY;
  const late = early && (await askEach(CLIENTS[1]));
  const differing = late && asked.find((_, turn) => isAnother(early[turn], late[turn]));
  if (differing !== undefined)
    once(
      `Readers may repeat its answer to ${describe(differing)}, and it has another one for another client or later: it must call dependOnClient or forbidStoring.`,
    );
}

/** Whether answers that readers may repeat differ. */
const isAnother = (one, other) => one !== undefined && other !== undefined && one !== other;

/** @returns the answer as text; undefined: readers do not repeat it, or it is faulty; `slow`: it takes too long */
async function askOne(handler, query, once) {
  const { question } = query;
  let passed;
  const next = (given) => {
    passed = given;
    return Promise.resolve(BEHIND);
  };
  const blocked = measureBlocking();
  try {
    const pending = Promise.resolve(handler.handle(query, next));
    const taken = blocked();
    if (taken !== undefined) {
      once(`It blocks: a call took ${Math.round(taken)} ms.`);
      return 'slow';
    }
    const answer = await inTime(pending, DEADLINE_MILLISECONDS);
    if (answer === undefined) {
      once(`It gives no answer within ${DEADLINE_MILLISECONDS / 1000} s to ${describe(question)}.`);
      return 'slow';
    }
    const fault = findAnswerFault(answer);
    if (fault !== undefined) once(`Its answer to ${describe(question)} ${fault}.`);
    else if (!isStated(handler, query, once) && (answer !== BEHIND || passed !== query))
      once(`It acts on a question that it does not state: ${describe(question)}.`);
    else return query.isForAll ? JSON.stringify(answer) : undefined;
  } catch (error) {
    once(`It throws for ${describe(question)}: ${describeError(error)}.`);
  }
  return undefined;
}

/** Readers give what is published, so `handle` must give it too. */
async function comparePublished(handler, { published }, report) {
  if (published.length > 0 && handler.publishes === undefined)
    report('It opens a publication that its handler does not state: publishes.');
  for (const { zones, answers } of published)
    for (const { name, type, records, additionals = [] } of answers) {
      const question = { name, type, class: CLASS.IN };
      const told = findPublishedFault(handler, zones, question, records, additionals);
      if (told !== undefined) {
        report(`It publishes an answer to ${describe(question)} that ${told}.`);
        return;
      }
      const answer = await handler.handle(new KitQuery(question, CLIENTS[0]), () => Promise.resolve(BEHIND));
      const own = answer.kind === 'records' ? [answer.records, answer.additionals] : undefined;
      if (JSON.stringify(own) !== JSON.stringify([records, additionals])) {
        report(`Its handler has another answer to ${describe(question)} than it publishes.`);
        return;
      }
    }
}

function findPublishedFault({ questions }, zones, { name, type }, ...sections) {
  if (toKey(name) !== name) return 'has capitals in its name';
  if (!isWithinAny(name, zones)) return 'is outside the zones of the publication';
  if (!questions.includes(name, type)) return 'its questions do not include';
  if (sections[0]?.length === 0) return 'has no records';
  return findRecordFault(...sections);
}

function isStated({ questions, answers }, { key, question }, once) {
  const isIncluded = questions.includes(key, question.type);
  const isCovered = [...questions.matches()].some(
    ({ name, types }) =>
      (types === 'all' || types.has(question.type)) &&
      (name.kind === 'any' || (name.kind === 'exact' ? name.name === key : isWithin(key, name.name))),
  );
  if (isIncluded && !isCovered)
    once(`Its questions include ${describe(question)}, and no match of them covers it.`);
  // It may change any answer, and readers know that.
  return isIncluded || answers !== 'unchanged';
}

/** @returns what is wrong; undefined: it has the shape of an answer */
function findAnswerFault(answer) {
  const { kind } = answer ?? {};
  if (CODES.includes(kind) || answer === BEHIND) return undefined;
  if (kind === 'records') return findRecordFault(answer.records, answer.additionals);
  if (kind === 'alias') return findRecordFault(answer.records, [answer.soa]);
  if (kind === 'nodata' || kind === 'nxdomain')
    return findRecordFault(answer.aliases, answer.soa === undefined ? [] : [answer.soa]);
  if (kind === 'message') return findRecordFault(answer.answers, answer.authorities, answer.additionals);
  return kind === undefined ? 'has no kind' : `has a kind that the contract does not know: ${kind}`;
}

function findRecordFault(...sections) {
  for (const section of sections) {
    if (!Array.isArray(section)) return 'lacks a list of records';
    for (const { name, class: recordClass, ttl, data } of section) {
      if (typeof name !== 'string' || toName(name) !== name)
        return `has a record of ${name}, not a whole name`;
      if (!Number.isInteger(ttl) || ttl < 0) return `has a TTL that is not a number of seconds: ${ttl}`;
      if (!Number.isInteger(recordClass)) return `has a record without a class: ${name}`;
      if (typeof data?.kind !== 'string') return `has a record without data: ${name}`;
    }
  }
  return undefined;
}

/** @returns a function that gives the milliseconds since, if they are too many */
function measureBlocking() {
  const began = performance.now();
  const usedBefore = process.cpuUsage();
  const delayBefore = readRunDelay();
  return () => {
    const { user, system } = process.cpuUsage(usedBefore);
    const computed = (user + system) / 1000;
    if (computed > BLOCKING_MILLISECONDS) return computed;
    const waited = performance.now() - began - (readRunDelay() - delayBefore);
    return waited > WAITING_MILLISECONDS ? waited : undefined;
  };
}

/** Milliseconds for which this thread was ready and another one had the processor: a busy machine is no fault of the plugin. */
function readRunDelay() {
  try {
    const [, nanoseconds] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ');
    return Number(nanoseconds) / 1e6;
  } catch {
    // Kernels without statistics of the scheduler, and other systems.
    return 0;
  }
}

/** Names inside and outside the stated zones, names that only look like them, and odd labels. */
function makeName(random, zones) {
  const pick = (list) => list[Math.floor(random() * list.length)] ?? '';
  const label = () =>
    pick(['a', 'www', 'WWW', '*', '_tcp', 'x-y', 'xn--bcher-kva', '\\000', 'a\\.b', '1', 'constructor']);
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
const describeError = (error) => (error instanceof Error ? error.message : String(error));
