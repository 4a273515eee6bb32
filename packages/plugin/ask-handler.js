/**
 * Asks a handler random questions, each at two times and from two clients, and compares its answers.
 */
import { readFileSync } from 'node:fs';
import { findAnswerFault } from './answer-faults.js';
import { ANSWERS_BEHIND, ASKED_TYPES, KitQuery } from './host.js';
import { inTime } from './in-time.js';
import { CLASS, isWithin, toName } from './index.js';

const DEADLINE_MILLISECONDS = 5_000;
/** A call that computes for longer keeps all other clients waiting. */
const BLOCKING_MILLISECONDS = 100;
/** So does one that waits. */
const WAITING_MILLISECONDS = 1_000;
const HOUR = 3_600_000;
/** Between the two times that a question is asked: a plugin may know a date. */
const CENTURY = 100 * 365 * 24 * HOUR;
export const CLIENTS = [
  { address: '192.0.2.1', port: 5353, transport: 'udp' },
  { address: '198.51.100.7', port: 5354, transport: 'udp' },
];

/**
 * @param report called with each kind of fault once
 * @returns the questions, and the answers to each: `early`, and a century later `late` and, to another client, `lateOther`; undefined: it
 *   is too slow to be asked on
 */
export async function askHandler(handler, host, { questions, seed }, report) {
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
  const behind = asked.map(({ name }, turn) => ANSWERS_BEHIND[turn % ANSWERS_BEHIND.length](name));
  const askEach = async (clients) => {
    const given = clients.map(() => []);
    for (const [turn, question] of asked.entries()) {
      for (const [index, client] of clients.entries()) {
        const answer = await askOne(handler, new KitQuery(question, client), behind[turn], once);
        // What is slow once is slow for all questions.
        if (answer === 'slow') return undefined;
        given[index].push(answer);
      }
      host.now += Math.floor(random() * 24 * HOUR);
    }
    return given;
  };
  const first = await askEach(CLIENTS.slice(0, 1));
  host.now += CENTURY;
  const second = first && (await askEach(CLIENTS));
  return second && { asked, early: first[0], late: second[0], lateOther: second[1] };
}

const BEFORE_CACHE = 'set before to cache or a plugin before it, or call forbidCaching';

/** @param given what `askHandler` returns @param isBehindCache whether a cache of its block sees queries first */
export function* findRepeatedAnswers({ asked, early, late, lateOther }, isBehindCache) {
  const find = (one, another, mayBeRepeated) => {
    const turn = asked.findIndex((_, at) => {
      const [first, second] = [one[at], another[at]];
      if (first === undefined || second === undefined || first.text === second.text) return false;
      return mayBeRepeated(first, second);
    });
    return turn < 0 ? undefined : describeQuestion(asked[turn]);
  };
  const later = find(early, late, ({ marks }) => marks.isForAll);
  if (later !== undefined)
    yield `Readers may repeat its answer to ${later}, and it has another one later: it must call forbidStoring, also for what it passes on.`;
  const isForAll = (one, another) => one.marks.isForAll || another.marks.isForAll;
  const forOther = find(late, lateOther, isForAll);
  if (forOther !== undefined)
    yield `Readers may repeat its answer to ${forOther}, and it has another one for another client: it must call dependOnClient, or forbidStoring if chance decides.`;
  if (!isBehindCache) return;
  const passed = find(
    early,
    late,
    (one, another) => one.marks.mayBeCached && one.isPassed && !another.isPassed,
  );
  if (passed !== undefined)
    yield `A cache in front may keep what it passes on for ${passed}, which it answers itself later: ${BEFORE_CACHE}, also for what it passes on.`;
  const dependsOnClient = ({ marks }) => marks.mayBeCached && marks.clientWasRead;
  const kept = find(late, lateOther, (one, another) => dependsOnClient(one) && dependsOnClient(another));
  if (kept !== undefined)
    yield `A cache in front may keep its answer to ${kept}, and it has another one for another client: ${BEFORE_CACHE}.`;
}

/** @returns the answer as text, with what the plugin has said of it; undefined: it is faulty; `slow`: it takes too long */
async function askOne(handler, query, behind, once) {
  const { question } = query;
  let passed;
  const next = (given) => {
    passed = given;
    return Promise.resolve(behind);
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
      once(`It gives no answer within ${DEADLINE_MILLISECONDS / 1000} s to ${describeQuestion(question)}.`);
      return 'slow';
    }
    const fault = findAnswerFault(answer);
    if (fault !== undefined) once(`Its answer to ${describeQuestion(question)} ${fault}.`);
    else if (!isStated(handler, query, once) && (answer !== behind || passed !== query))
      once(`It acts on a question that it does not state: ${describeQuestion(question)}.`);
    else {
      const { marks } = query;
      const isPassed = answer === behind;
      const acts = !isPassed || passed !== query || marks.wasUsed;
      return { text: JSON.stringify(answer), marks, isPassed, acts };
    }
  } catch (error) {
    once(`It throws for ${describeQuestion(question)}: ${describeError(error)}.`);
  }
  return undefined;
}

function isStated({ questions, answers }, { key, question }, once) {
  const isIncluded = questions.includes(key, question.type);
  const isCovered = [...questions.matches()].some(
    ({ name, types }) =>
      (types === 'all' || types.has(question.type)) &&
      (name.kind === 'any' || (name.kind === 'exact' ? name.name === key : isWithin(key, name.name))),
  );
  if (isIncluded && !isCovered)
    once(`Its questions include ${describeQuestion(question)}, and no match of them covers it.`);
  // It may change any answer, and readers know that.
  return isIncluded || answers !== 'unchanged';
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

export const describeQuestion = ({ name, type }) => `${name} of type ${type}`;
export const describeError = (error) => (error instanceof Error ? error.message : String(error));
