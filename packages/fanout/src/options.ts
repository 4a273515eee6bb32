/**
 * The properties of `fanout`.
 */
import { readFileSync } from 'node:fs';
import { type Block, fault, type NameKey, readLines, toKey, type Use, type Word } from '@portolan/plugin';

export interface FanoutOptions {
  /** Names below it are asked for; lower case, absolute. */
  readonly from: NameKey;
  /** Addresses, or files like resolv.conf, in the order given. */
  readonly servers: readonly string[];
  /** Zones that are not asked for. */
  readonly except: readonly NameKey[];
  /** Servers that are asked at the same time; undefined: all. */
  readonly workers: number | undefined;
  readonly policy: 'sequential' | 'weighted-random';
  /** How many servers a weighted choice takes; undefined: all. */
  readonly serverCount: number | undefined;
  /** Of each server, 1 to 100; empty: all are alike. */
  readonly weights: readonly number[];
  readonly network: 'udp' | 'tcp' | 'tcp-tls';
  readonly tls: Readonly<Partial<Record<'serverName' | 'authorities' | 'certificate' | 'key', string>>>;
  /** How often a server is asked; 0: until the time is over. */
  readonly attempts: number;
  /** Milliseconds for all. */
  readonly timeout: number;
  /** Whether the first reply counts, whatever its response code. */
  readonly isRace: boolean;
}

type ReadFanoutProperty = (args: readonly Word[], name: Word) => Partial<FanoutOptions>;

const MIN_WORKERS = 2;
const MAX_WORKERS = 32;
const MAX_WEIGHT = 100;
/** A Go duration of one or several parts. */
const DURATION = /^(?:\d+(?:\.\d+)?(?:ns|us|ms|s|m|h))+$/;
const MILLISECONDS: ReadonlyMap<string, number> = new Map([
  ['ns', 1e-6] as const,
  ['us', 1e-3] as const,
  ['ms', 1] as const,
  ['s', 1_000] as const,
  ['m', 60_000] as const,
  ['h', 3_600_000] as const,
]);

/** @throws a fault */
export function readOptions([use, second]: readonly Use[], block: Block): FanoutOptions {
  if (second !== undefined)
    throw fault(
      'this plugin can only be used once per Server Block',
      second.head,
      'Give all servers in one use.',
    );
  if (use === undefined) throw new TypeError('no use of fanout');
  const [from, ...servers] = use.args;
  if (from === undefined || servers.length === 0)
    throw fault(
      `Wrong argument count or unexpected line ending after '${from?.text ?? 'fanout'}'`,
      from ?? use.head,
      'Give a zone and servers, as in fanout . 192.0.2.1 192.0.2.2.',
    );
  const draft: { -readonly [Name in keyof FanoutOptions]: FanoutOptions[Name] } = {
    from: toKey(from.text),
    servers: servers.map(({ text }) => resolveServer(text, block)),
    except: [],
    workers: undefined,
    policy: 'sequential',
    serverCount: undefined,
    weights: [],
    network: 'udp',
    tls: {},
    attempts: 3,
    timeout: 30_000,
    isRace: false,
  };
  // Properties are read without regard to case.
  const lines = use.lines.map(([name, ...rest]) =>
    name === undefined ? rest : [{ ...name, text: name.text.toLowerCase() }, ...rest],
  );
  const take = (read: ReadFanoutProperty) => (args: readonly Word[], name: Word) =>
    void Object.assign(draft, read(args, name));
  readLines(
    { ...use, lines },
    new Map(readers(() => draft, block).map(([name, read]) => [name, take(read)])),
  );
  const hasFile = draft.servers.some((server) => server.startsWith('/'));
  if (draft.weights.length > 0 && !hasFile && draft.weights.length !== servers.length)
    throw fault(
      'load-factor params count must be the same as the number of hosts',
      use.head,
      'Give a load factor for each server.',
    );
  return draft;
}

/** A file keeps its path; `parseUpstream` of the host reads addresses. */
function resolveServer(text: string, block: Block): string {
  return /^(?:\.{0,2}\/)/.test(text) ? block.resolve(text) : text.replace(/^dns:\/\//, '');
}

function readers(
  draft: () => FanoutOptions,
  block: Block,
): readonly (readonly [string, ReadFanoutProperty])[] {
  return [
    ['tls', (args) => ({ tls: { ...draft().tls, ...readTls(args, block) } })],
    ['tls-server', (args, name) => ({ tls: { ...draft().tls, serverName: one(args, name).text } })],
    ['worker-count', (args, name) => ({ workers: readWorkers(args, name) })],
    ['policy', (args, name) => ({ policy: readPolicy(one(args, name)) })],
    ['weighted-random-server-count', (args, name) => ({ serverCount: count(one(args, name)) || undefined })],
    [
      'weighted-random-load-factor',
      (args, name) => ({ weights: [...draft().weights, ...readWeights(args, name)] }),
    ],
    ['network', (args, name) => ({ network: readNetwork(one(args, name)) })],
    [
      'except',
      (args, name) => ({
        except: [...draft().except, ...some(args, name).map(({ text }) => toKey(text))],
      }),
    ],
    [
      'except-file',
      (args, name) => ({ except: [...draft().except, ...readExceptions(one(args, name), block)] }),
    ],
    ['attempt-count', (args, name) => ({ attempts: count(one(args, name)) })],
    ['timeout', (args, name) => ({ timeout: readDuration(one(args, name)) })],
    ['race', () => ({ isRace: true })],
  ];
}

/** @throws a fault unless there is exactly one word */
function one(args: readonly Word[], name: Word): Word {
  const [word] = some(args, name);
  if (word !== undefined && args.length === 1) return word;
  throw wrongCount(args[1] ?? name);
}

function some(args: readonly Word[], name: Word): readonly Word[] {
  if (args.length === 0) throw wrongCount(name);
  return args;
}

function wrongCount(word: Word): Error {
  return fault(
    `Wrong argument count or unexpected line ending after '${word.text}'`,
    word,
    'Compare the line with the syntax of fanout.',
  );
}

function count(word: Word): number {
  if (/^\d{1,6}$/.test(word.text)) return Number(word.text);
  throw fault(`not a count: ${word.text}`, word, 'Give a whole number from 0.');
}

/** No file, the authorities, or a certificate and its key, then the authorities. */
function readTls(args: readonly Word[], block: Block): FanoutOptions['tls'] {
  const [first, second, third] = args.map(({ text }) => block.resolve(text));
  if (first === undefined) return {};
  if (second === undefined) return { authorities: first };
  return { certificate: first, key: second, ...(third !== undefined && { authorities: third }) };
}

function readWorkers(args: readonly Word[], name: Word): number {
  const word = one(args, name);
  const workers = count(word);
  if (workers >= MIN_WORKERS && workers <= MAX_WORKERS) return workers;
  throw fault(
    workers < MIN_WORKERS
      ? 'worker count should be more or equal 2. Consider to use Forward plugin'
      : `worker count more then max value: ${MAX_WORKERS}`,
    word,
    `Give a number from ${MIN_WORKERS} to ${MAX_WORKERS}.`,
  );
}

function readPolicy(word: Word): FanoutOptions['policy'] {
  const policy = word.text.toLowerCase();
  if (policy === 'sequential' || policy === 'weighted-random') return policy;
  throw fault(`unknown policy "${word.text}"`, word, 'Give sequential or weighted-random.');
}

function readWeights(args: readonly Word[], name: Word): readonly number[] {
  return some(args, name).map((word) => {
    const weight = count(word);
    if (weight >= 1 && weight <= MAX_WEIGHT) return weight;
    throw fault(
      `load-factor ${weight} is not 1 to ${MAX_WEIGHT}`,
      word,
      `Give a number from 1 to ${MAX_WEIGHT}.`,
    );
  });
}

function readNetwork(word: Word): FanoutOptions['network'] {
  const network = word.text.toLowerCase();
  if (network === 'udp' || network === 'tcp' || network === 'tcp-tls') return network;
  throw fault(`unknown network protocol: ${word.text}`, word, 'Give udp, tcp or tcp-tls.');
}

function readExceptions(word: Word, block: Block): readonly NameKey[] {
  try {
    const lines = readFileSync(block.resolve(word.text), 'utf8').split('\n');
    return lines.flatMap((line) => (line.trim() === '' ? [] : [toKey(line.trim())]));
  } catch (error) {
    throw fault(
      error instanceof Error ? error.message : String(error),
      word,
      'Give a file with a domain in each line.',
    );
  }
}

function readDuration(word: Word): number {
  if (!DURATION.test(word.text))
    throw fault(`time: invalid duration "${word.text}"`, word, 'Give a duration such as 5s.');
  return [...word.text.matchAll(/(\d+(?:\.\d+)?)(ns|us|ms|s|m|h)/g)].reduce(
    (sum, [, number, unit = '']) => sum + Number(number) * (MILLISECONDS.get(unit) ?? 0),
    0,
  );
}
