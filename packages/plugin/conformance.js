/**
 * The conformance kit: what a host relies on, asked of a plugin with random questions.
 */
import { findPublishedFault } from './answer-faults.js';
import { askHandler, CLIENTS, describeError, describeQuestion, findRepeatedAnswers } from './ask-handler.js';
import { makeCursor } from './cursor.js';
import { BEHIND, BLOCK, KitQuery, makeHost, moveDate, UP_TO_CACHE } from './host.js';
import { inTime } from './in-time.js';
import { API, CLASS, definePlugin, findHandlerFault, toKey } from './index.js';

const START_MILLISECONDS = 10_000;

/** One at a time: a run counts what else is active in the process, and moves its `Date`. */
let lastRun = Promise.resolve();

export function testPlugin(definition, settings) {
  const run = lastRun.then(() => runKit(definition, settings));
  lastRun = run.catch(() => undefined);
  return run;
}

async function runKit(definition, { questions = 2000, seed = 1 } = {}) {
  try {
    definePlugin(definition);
  } catch (error) {
    return [`The definition has a wrong shape: ${error.message}.`];
  }
  if (definition.api === undefined)
    return ['It is not made by definePlugin: write export default definePlugin({ … }).'];
  if (definition.api !== API)
    return [`It is for API ${definition.api}: make it by definePlugin of version ${API}.`];
  const faults = [];
  const settings = { questions, seed, acts: false };
  for (const example of definition.examples) await testExample(definition, example, settings, faults);
  if (faults.length === 0 && !settings.acts) faults.push(IDLE);
  return faults;
}

const IDLE =
  'It acts on no question of any example. Give examples that make it answer, and make each zone of a Corefile a key: namesWithin(new Set([toKey(word.text)])).';

async function testExample(definition, example, settings, faults) {
  const report = (text) => faults.push(`${JSON.stringify(example)}: ${text}`);
  const before = countResources();
  const host = makeHost();
  const restoreDate = moveDate(host);
  let plugin;
  try {
    const { cursor, faults: found } = makeCursor(example, definition.name);
    const options = definition.read(cursor, BLOCK);
    if (found.length > 0) throw new Error(found.join('; '));
    plugin = definition.create(options, host.context);
    if (typeof plugin !== 'object' || plugin === null) throw new Error('create returns no plugin');
    const started = Promise.resolve(plugin.start?.()).then(() => true);
    if (!(await inTime(started, START_MILLISECONDS))) {
      plugin.proceed?.();
      report(`It does not start within ${START_MILLISECONDS / 1000} s.`);
    } else await testHandler(definition, plugin, host, settings, report);
  } catch (error) {
    report(`It throws when it is made or started: ${describeError(error)}.`);
  }
  try {
    const stopped = Promise.resolve(plugin?.stop?.('ending')).then(() => true);
    if (!(await inTime(stopped, START_MILLISECONDS))) report('It does not stop.');
  } catch (error) {
    report(`It throws when it is stopped: ${describeError(error)}.`);
  }
  restoreDate();
  const left = [...(await leftBehind(before)), ...Array.from(host.timers, () => 'Timer of context.clock')];
  if (left.length > 0) report(`It leaves something running after its end: ${left.join(', ')}.`);
}

async function testHandler({ before }, plugin, host, settings, report) {
  const { handler } = plugin;
  if (handler === undefined) {
    settings.acts = true;
    if (!('handler' in plugin))
      report(
        'create returns no handler: return { handler }, or handler: undefined if it answers no queries.',
      );
    return;
  }
  const fault = findHandlerFault(handler) ?? findNameFault(handler.questions);
  if (fault !== undefined) {
    report(`No host can ask it: ${fault}.`);
    return;
  }
  const given = await askHandler(handler, host, settings, report);
  const isBehindCache = before !== undefined && !UP_TO_CACHE.has(before);
  if (given !== undefined) for (const text of findRepeatedAnswers(given, isBehindCache)) report(text);
  settings.acts ||= given === undefined || actsOnSome(given) || actsOtherwise(handler);
  await comparePublished(handler, host, report);
}

const actsOnSome = ({ early, late }) => [...early, ...late].some((answer) => answer?.acts);

/** Parts of a handler that act on queries which the kit does not send, or without a question. */
const FURTHER_PARTS = [
  'flags',
  'dropsOpt',
  'passing',
  'readsOptions',
  'isObserver',
  'rotates',
  'maxUdpSize',
  'answersClasses',
  'countsQueries',
  'writesLines',
  'publishes',
  'limits',
];

function actsOtherwise(handler) {
  const { answers, questions } = handler;
  const isForOthers = ({ ednsOptions, dnssecOk }) => ednsOptions !== undefined || dnssecOk === true;
  return (
    answers !== 'unchanged' ||
    FURTHER_PARTS.some((part) => handler[part] !== undefined) ||
    [...questions.matches()].some(isForOthers)
  );
}

/** @returns what is wrong with the names of questions, which hosts compare with keys */
function findNameFault(questions) {
  for (const { name } of questions.matches()) {
    if (name.kind === 'any') continue;
    try {
      if (toKey(name.name) === name.name) continue;
    } catch {
      // Not a name at all.
    }
    return `its questions have a name that is not a key: ${name.name}. Make it by toKey`;
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
        report(`It publishes an answer to ${describeQuestion(question)} that ${told}.`);
        return;
      }
      const answer = await handler.handle(new KitQuery(question, CLIENTS[0]), () => Promise.resolve(BEHIND));
      const own = answer.kind === 'records' ? [answer.records, answer.additionals] : undefined;
      if (JSON.stringify(own) !== JSON.stringify([records, additionals])) {
        report(`Its handler has another answer to ${describeQuestion(question)} than it publishes.`);
        return;
      }
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
