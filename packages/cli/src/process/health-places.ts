/**
 * Finds the HTTP ports of a command that a kubelet probes, from its arguments and its Corefile, before the code that reads them with all
 * their rules is loaded. A place that is missed is opened later, and one too many is closed when the server serves.
 */
import { isIP } from 'node:net';

/** A port that is to be open when the kubelet first looks. */
export interface ProbedPlace {
  /** Undefined: all addresses of all families of the machine. */
  readonly address: string | undefined;
  readonly port: number;
}

/** @throws if the file cannot be read */
type ReadText = (path: string) => string;

/** The flag of a port, which may have an address before it or in a flag of its own. */
interface PortFlag {
  readonly flag: string;
  /** Undefined: the port is open only if the flag names it. */
  readonly port: string | undefined;
  readonly addressFlag?: string;
  readonly address?: string;
}

const SERVE_PORTS: readonly PortFlag[] = [
  { flag: 'healthz-port', port: '8081' },
  { flag: 'sidecar-port', port: undefined },
];

const PORT_FLAGS: ReadonlyMap<string, readonly PortFlag[]> = new Map([
  ['serve', SERVE_PORTS],
  ['kube-dns', SERVE_PORTS],
  [
    'sidecar',
    [{ flag: 'prometheus-port', port: '10054', addressFlag: 'prometheus-addr', address: '0.0.0.0' }],
  ],
  ['healthz', [{ flag: 'port', port: '8080' }]],
  ['skydns', [{ flag: 'healthz-port', port: undefined }]],
  ['kube2sky', [{ flag: 'healthz-port', port: '8081' }]],
]);

/** The server waits for the ports, or shares them. */
const TAKEOVER = /^--?takeover(=true)?$/;

/** @param words the arguments after the command */
export function findHealthPlaces(
  command: string,
  words: readonly string[],
  readText: ReadText,
): readonly ProbedPlace[] {
  if (words.some((word) => TAKEOVER.test(word))) return [];
  if (command === 'coredns') return findCorefilePlaces(findFlag(words, 'conf') ?? 'Corefile', readText);
  if (command === 'node-cache') return findTemplatePlaces(words, readText);
  const flags = PORT_FLAGS.get(command) ?? [];
  return flags.flatMap(({ flag, port, addressFlag, address }) => {
    const given = findFlag(words, flag) ?? port;
    const separate = addressFlag === undefined ? address : (findFlag(words, addressFlag) ?? address);
    return given === undefined ? [] : parsePlace(separate === undefined ? given : `${separate}:${given}`);
  });
}

/** The cache of a node serves a Corefile that it writes from a template, if there is one. */
function findTemplatePlaces(words: readonly string[], readText: ReadText): readonly ProbedPlace[] {
  const [local = ''] = (findFlag(words, 'localip') ?? '').split(',');
  const readFilled = (path: string) => readText(path).replaceAll('__PILLAR__LOCAL__DNS__', local);
  const template = findCorefilePlaces(
    findFlag(words, 'basecorefile') ?? '/etc/coredns/Corefile.base',
    readFilled,
  );
  return template.length > 0
    ? template
    : findCorefilePlaces(findFlag(words, 'conf') ?? '/etc/Corefile', readText);
}

function findCorefilePlaces(path: string, readText: ReadText): readonly ProbedPlace[] {
  if (path === 'stdin') return [];
  try {
    return findProbedAddresses(readText(path)).flatMap(parsePlace);
  } catch {
    // The reader of the Corefile says what is wrong with it.
    return [];
  }
}

const DEFAULT_ADDRESSES: ReadonlyMap<string, string> = new Map([
  ['health', ':8080'],
  ['ready', ':8181'],
]);

/** The addresses of `health` and `ready` in the server blocks and snippets of a Corefile; those of imported files are not found. */
export function findProbedAddresses(corefile: string): readonly string[] {
  const found = new Set<string>();
  let depth = 0;
  for (const line of corefile.split('\n')) {
    const tokens = line
      .replace(/(^|\s)#.*/, '')
      .split(/\s+/)
      .filter((token) => token !== '');
    const [first = '', second = '{'] = tokens;
    const usual = depth === 1 ? DEFAULT_ADDRESSES.get(first) : undefined;
    if (usual !== undefined) found.add(second === '{' ? usual : second);
    if (tokens.at(-1) === '{') depth += 1;
    if (first === '}') depth -= 1;
  }
  return [...found];
}

/** The last value of a flag, in one argument or in two. */
function findFlag(words: readonly string[], name: string): string | undefined {
  const written = new RegExp(`^--?${name}(?:=(.*))?$`);
  return words
    .flatMap((word, at) => {
      const match = written.exec(word);
      return match === null ? [] : (match[1] ?? words[at + 1] ?? []);
    })
    .at(-1);
}

/** `PORT`, `:PORT` or `ADDRESS:PORT`; empty for anything else, and for any free port. */
function parsePlace(text: string): readonly ProbedPlace[] {
  const [, host = '', digits = ''] = /^(?:(.*):)?(\d{1,5})$/.exec(text) ?? [];
  const address = host.replace(/^\[(.*)\]$/, '$1');
  const port = Number(digits);
  const isPlace = port > 0 && port <= 65_535 && (address === '' || isIP(address) !== 0);
  return isPlace ? [{ address: address === '' ? undefined : address, port }] : [];
}
