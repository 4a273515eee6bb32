/**
 * What the sources of the originals, which are Go, state of their interface: flags, variables of templates, words of directives, metrics.
 *
 * Declarations are found by their form. What has another form is not found: a comparison may miss something, and invents nothing.
 */

/** Constants of texts by name, for names that are put together. */
type Constants = ReadonlyMap<string, string>;

const TYPES = '(?:String|Bool|Int|Int64|Uint|Uint64|Float64|Duration|StringArray|StringSlice)';
/** `flag.StringVar(&x, "name", ...)`, `fs.Var(x{...}, "name", ...)` */
const BOUND_FLAG = new RegExp(`\\.${TYPES}?Var\\(\\s*[^,"]+,\\s*([\\w.]+\\s*\\+\\s*)?"([\\w.-]+)"`, 'g');
/** `flag.String("name", ...)` */
const FREE_FLAG = new RegExp(`\\b(?:flag|fs|flags)\\.${TYPES}\\(\\s*([\\w.]+\\s*\\+\\s*)?"([\\w.-]+)"`, 'g');
const CONSTANT = /^\s*(?:const\s+)?(\w+)\s*=\s*"([^"]*)"/gm;
const METRIC = /prometheus\.(?:Counter|Gauge|Histogram|Summary)Opts\{([^}]*)\}/g;
const METRIC_PART = /(Namespace|Subsystem|Name):\s*(?:"([^"]*)"|([\w.]+))/g;
/** The namespace of all metrics of CoreDNS, in a package that each file imports. */
const IMPORTED: Constants = new Map([['plugin.Namespace', 'coredns']]);

export function parseConstants(texts: readonly string[]): Constants {
  const all = texts.flatMap((text) => [...text.matchAll(CONSTANT)]);
  return new Map([...IMPORTED, ...all.map(([, name = '', value = '']) => [name, value] as const)]);
}

/** Names without dashes. */
export function parseFlags(text: string, constants: Constants): readonly string[] {
  const found = [BOUND_FLAG, FREE_FLAG].flatMap((pattern) => [...text.matchAll(pattern)]);
  return found.flatMap(([, sum, name = '']) => {
    if (sum === undefined) return [name];
    const first = constants.get(sum.replace(/\s*\+\s*$/, ''));
    return first === undefined ? [] : [`${first}${name}`];
  });
}

/** `__PILLAR__LOCAL__DNS__` */
export function findVariables(text: string): readonly string[] {
  return [...text.matchAll(/"(__[A-Z_]+__)"/g)].map(([, name = '']) => name);
}

/** The words of `case` where a directive is read. */
export function parseDirectiveWords(text: string): readonly string[] {
  if (!text.includes('caddy.Controller')) return [];
  return [...text.matchAll(/^\s*case ("[^:]*"):/gm)]
    .flatMap(([, words = '']) => words.split(','))
    .map((word) => word.trim().replaceAll('"', ''))
    .filter((word) => /^[a-z]\w*$/.test(word));
}

/** Whole names, as they are scraped. */
export function listMetrics(text: string, constants: Constants): readonly string[] {
  return [...text.matchAll(METRIC)].flatMap(([, body = '']) => {
    const parts = new Map(
      [...body.matchAll(METRIC_PART)].map(([, part = '', literal, name = '']) => [
        part,
        literal ?? constants.get(name),
      ]),
    );
    const names = ['Namespace', 'Subsystem', 'Name'].map((part) => (parts.has(part) ? parts.get(part) : ''));
    // A part that is known only at run time.
    if (names.includes(undefined)) return [];
    return [names.filter((name) => name !== '').join('_')];
  });
}

/** Plugins in order, with their folders: `prometheus:metrics`. */
export function parsePluginList(text: string): readonly (readonly [name: string, folder: string])[] {
  return [...text.matchAll(/^([\w-]+):(\S+)$/gm)].map(([, name = '', folder = '']) => [name, folder]);
}
