/**
 * The contract of plugins: the small layer of the one that Portolan's own plugins have. It follows semantic versioning: a plugin for
 * API 2 runs with every host that has API 2, unless it uses what a later version of the package has added: that says since when.
 */
import type { AbsoluteName, Answer, Edns, Header, NameKey, Question, ResourceRecord } from './messages.js';

export * from './messages.js';

export declare const API: 2;

/** How a plugin is read and made. */
export interface PluginDefinition<Name extends string = string, Options = unknown> {
  /** Its word in a Corefile: lower-case letters, digits and `_`. */
  readonly name: Name;
  /**
   * The plugin that sees queries directly after it; for plugins that CoreDNS does not have. Behind `cache`, it sees no query that the cache
   * answers: a plugin that overrides others at times stands before it.
   */
  readonly before?: string;
  /** Only for plugins of the program: it answers by itself, so no warning says that its server block answers nothing. */
  readonly answers?: true;
  /** Only for plugins of the program: it sees queries or answers and no other front end has it, so `--blocks-extra` may name it. */
  readonly joinsBlocks?: true;
  /** It writes or sends something beside answers, so commands that only compare answers leave it out. Since 2.1.0. */
  readonly hasSideEffects?: true;
  /** For people: one text for each form of the directive. */
  readonly syntax: readonly string[];
  /** Uses of the directive, as in a Corefile. The conformance kit runs each of them. At least one. */
  readonly examples: readonly string[];
  /**
   * Reads all uses in one server block. The cursor records faults; the result counts only if there are none. Must not read files of
   * the cluster or ask others.
   */
  read(cursor: Cursor, block: Block): Options;
  /** Makes the plugin of one server block. It must not start anything: `start` does. */
  create(options: Options, context: Context): Plugin;
}

/** The position of a word, through imports. */
export interface Position {
  readonly file: string;
  /** From 1. */
  readonly line: number;
}

/** A word of a Corefile, without the quotes around it. */
export interface Word {
  readonly text: string;
  readonly position: Position;
}

/** One use of the directive. */
export interface Use {
  /** The word of the plugin. */
  readonly head: Word;
  /** The words behind it in its line. */
  readonly args: readonly Word[];
  /** The lines of its block, without the braces; empty without a block. */
  readonly lines: readonly (readonly Word[])[];
}

/**
 * A cursor over the words of a directive. A fault ends the current line or use; reading continues after it, so that all faults are found.
 */
export interface Cursor {
  /** The word read last. */
  readonly word: string;
  /** Reads all uses at once; a `fault` ends it. */
  whole<Options>(read: (uses: readonly Use[]) => Options): Options;
  /** Reads the first use; further uses have no effect. */
  firstUse(read: () => void): void;
  eachUse(read: () => void): void;
  /** Whether words are left. */
  hasMore(): boolean;
  /** The next word of the line, braces included. */
  argument(): string | undefined;
  /** The remaining words of the line, up to a brace. */
  remainingArguments(): readonly string[];
  /** Reads the next line of the block that opens in this line. @returns whether there is one */
  nextInBlock(): boolean;
  /** Reads a line; a fault in it does not hide faults in later lines. */
  guardLine(read: () => void): void;
  /** A fault at the word read last, to throw. @param remedy what to do: a whole sentence */
  error(fault: string, remedy: string): Error;
  /** The same without a position in its text. */
  bareError(message: string, remedy: string): Error;
  /** A word is missing, or one too many. */
  argumentError(remedy?: string): Error;
}

/** The server block of a directive. */
export interface Block {
  /** Its zones, in the order of its keys; at least one. */
  readonly zones: readonly NameKey[];
  /** A path relative to `root` of the block. */
  resolve(path: string): string;
  /**
   * Reads a record as in a zone file: `www 60 IN A 192.0.2.1`. The default TTL is 3600.
   *
   * @param origin of names that do not end with a dot
   * @throws an Error that says what is wrong with it
   */
  readRecord(text: string, origin: AbsoluteName): ResourceRecord;
  /**
   * A regular expression in Go's syntax, which takes a time linear in the text: names come from clients.
   *
   * @throws an Error that says what is wrong with it
   */
  readPattern(text: string): Pattern;
}

export interface Pattern {
  /** Whether it matches anywhere in the text. */
  test(text: string): boolean;
}

/** A plugin of a server block: created, `start`, `serving`, `stop`. Only `handler` is required. */
export interface Plugin {
  /** Undefined: it does not answer queries. */
  readonly handler: Handler | undefined;
  /**
   * Before queries are received: reads files, waits for a first state.
   *
   * @throws an error whose message says why the server cannot start
   */
  start?(): void | Promise<void>;
  /** The server is about to stop: `start` must wait no longer. */
  proceed?(): void;
  /** Queries are received now. */
  serving?(): void;
  /** Checks for changed files at once. */
  reload?(): void;
  /** For `ready`. Default: always ready. */
  isReady?(): boolean;
  /** Whether it may lose readiness also where `ready` says "once ready, always ready". Default: no. */
  readonly losesReadiness?: boolean;
  /** Called when no query arrives any more and no earlier one is in flight. Ends all that `start` began. */
  stop?(reason: StopReason): void | Promise<void>;
}

/** `replaced`: another plan is in force, or this one never was. `ending`: the server ends. */
export type StopReason = 'replaced' | 'ending';

/** Asks the plugins behind this one: the same query, or one that it leads to. */
export interface Next {
  (query: Query): Answer | Promise<Answer>;
  /** All functions have it. It makes the compiler take a handler of a plugin for one of the host, whose queries have more. */
  readonly length: number;
}

/** What a handler says about itself. Reader threads do all of it in their own answers too. */
export interface HandlerParts {
  /** For logs and metrics: the name of the plugin. */
  readonly name: string;
  /** Questions that it may answer, change or refuse. Readers answer others without it; those that reach `handle` it passes on unchanged. */
  readonly questions: Questions;
  /**
   * How it changes answers of the handlers behind it, for questions outside its `questions`. `unchanged`: not at all. `modifiers`: as
   * readers do too. `chain`: only answers of the chain that no reader gives.
   */
  readonly answers: AnswerEffect;
  /** Flags that it changes in all answers of the handlers behind it. */
  readonly flags?: FlagChange;
  /** Whether it drops the OPT record of replies with records. Default: no. */
  readonly dropsOpt?: boolean;
  /** Counts of each query that it passes on because the question is outside `questions`. Default: none. */
  readonly passing?: readonly HandlerCount[];
  /** Whether it reads EDNS options of queries that no `ednsOptions` of its `questions` names. Default: no. */
  readonly readsOptions?: boolean;
  /** Whether it only counts or logs, so that explanations pass by it. Default: no. */
  readonly isObserver?: true;
  /**
   * What says why it answers as it does, for explanations. `cluster`: the objects of the block's cluster. `loop`: its SERVFAIL means that
   * queries come back from the servers that they are forwarded to. Since 2.1.0. Default: only the name of the plugin.
   */
  readonly explainedBy?: 'cluster' | 'loop';
  /**
   * Whether it changes questions, or answers of the handlers behind it, within its `questions`. Only for plugins of roles whose cache is no
   * plugin, such as `serve`: what that cache has is then no answer to these. A Corefile says it by the order. Since 2.1.0. Default: no.
   */
  readonly changesAnswers?: true;
  /** Whether it rotates the addresses of answers. Default: no. */
  readonly rotates?: true;
  /** The largest UDP response that it lets pass, in octets. Default: no bound. */
  readonly maxUdpSize?: number;
  /** Classes other than IN that it may answer. Default: none. */
  readonly answersClasses?: 'chaos' | 'all';
  /** Whether it counts the queries of its block, those that readers answer among them. Default: no. */
  readonly countsQueries?: true;
  /** Whether it writes lines about the queries of its zone, those that readers answer among them. Default: no. */
  readonly writesLines?: true;
  /** Whether it works out answers to names that the table lacks, so that they are worth storing. Default: no. */
  readonly derivesAnswers?: true;
  /** Answers that reader threads give by themselves, from `PUBLICATIONS`. `handle` must give the same. Since 2.1.0. Default: none. */
  readonly publishes?: NamePublication;
  /** What the network of a client may ask and get in a second. They do not change. Since 2.1.0. Default: no bound. */
  readonly limits?: RateLimits;
  /** An error that it throws is answered SERVFAIL, logged, and counted in `coredns_panics_total`. */
  handle(query: Query, next: Next): Answer | Promise<Answer>;
}

export interface Handler extends HandlerParts {
  readonly role: 'other';
}

/**
 * Rates, each for all clients of a network together. The host applies them where queries arrive and responses leave, in reader threads
 * too: a request before anything is asked, a response when it is whole.
 *
 * Rates are numbers a second, also below 1; 0: no bound. The credit of one second may be used at once.
 */
export interface RateLimits {
  /** The names that they hold for, with all names below them. Names of other server blocks are not among them. */
  readonly zones: readonly NameKey[];
  /** Leading bits of an address that make up a network: 1 to 32, and 1 to 128. */
  readonly prefixLengths: { readonly ipv4: number; readonly ipv6: number };
  /** Requests of a network, over any transport. What exceeds the rate is dropped. */
  readonly requestsPerSecond: number;
  /** Responses to a network over UDP that are alike. What exceeds the rate is dropped. */
  readonly responsesPerSecond: Readonly<Record<ResponseKind, number>>;
  /** Of so many responses that exceed their rate, one is sent truncated, without records; 0: no response. At most 255. */
  readonly slip: number;
  /** Milliseconds for which a network that goes on asking stays over its rate at most; more than 0. */
  readonly window: number;
  /** How many counts are kept, up to 10,000,000, with 13 octets each. A response that has no room among them is not limited. */
  readonly maxCounts: number;
  /** Whether what exceeds a rate is only counted. */
  readonly reportsOnly: boolean;
  /** Counts of what exceeds the rates. */
  readonly exceeded: {
    readonly requests: readonly HandlerCount[];
    readonly responses: readonly HandlerCount[];
  };
}

/**
 * What responses are alike in. `response`: they have records, and the same name and type. `nodata`: they have the same name. `nxdomain`
 * and `referral`: they name the same zone, and referrals the same type. `error`: they have another response code, whichever it is.
 */
export type ResponseKind = 'response' | 'nodata' | 'nxdomain' | 'referral' | 'error';

export type AnswerEffect = 'unchanged' | 'modifiers' | 'chain';

/** Bits of the second word of a header: first those of `clear` are cleared, then those of `set` are set. */
export interface FlagChange {
  readonly clear: number;
  readonly set: number;
}

/**
 * The questions of a handler. Too wide costs speed; too narrow gives wrong answers, and the conformance kit finds it. They may change: then
 * call `context.changed()`.
 */
export interface Questions {
  /** Whether a question is one of them, or may be. */
  includes(name: NameKey, type: number): boolean;
  /** Matches that cover all questions that `includes` is true for. */
  matches(): Iterable<Match>;
}

export type NameMatch =
  | { readonly kind: 'exact'; readonly name: NameKey }
  /** The name and all names below it. */
  | { readonly kind: 'suffix'; readonly name: NameKey }
  | { readonly kind: 'any' };

export interface Match {
  readonly name: NameMatch;
  readonly types: 'all' | ReadonlySet<number>;
  /** If given, only names with at most so many labels. */
  readonly maxLabels?: number;
  /** If given, only queries with one of these EDNS options. */
  readonly ednsOptions?: ReadonlySet<number>;
  /** Whether the answer depends on the family of the client's address: `Query.dependOnFamily`, and on nothing else of the client. */
  readonly byFamily?: true;
  /** Whether only queries with DO, whose clients want signatures (RFC 3225). Since 2.1.0. Default: all queries. */
  readonly dnssecOk?: true;
  /**
   * Whether `handle` must see each query, as to write it down: readers then repeat no stored answer, whoever stored it. For answers that
   * only change, `Query.forbidStoring` is enough. Since 2.1.0. Default: no.
   */
  readonly always?: true;
  /** Whether only names that the handlers behind lack: it passes on what publishers have. Default: all names. */
  readonly ifMissing?: true;
}

/** The sender of a query, and its transport. */
export interface Client {
  readonly address: string;
  readonly port: number;
  readonly transport: 'udp' | 'tcp' | 'tls' | 'https';
  /** Where the query arrived; undefined if unknown: UDP on a wildcard address. */
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
}

/** Where a query arrived, for metrics and logs, under CoreDNS's names. */
export interface QuerySite {
  /** `dns://:53`, `dns://192.0.2.1:53`. */
  readonly server: string;
  /** The zone chosen for it, `example.org.`; `dropped` if no zone matches. */
  readonly zone: string;
  /** The view chosen for it; empty: none. */
  readonly view: string;
  /** Its size as it arrived, in octets. */
  readonly octets: number;
}

/** Parts of a query that a handler changes; others stay. */
export interface QueryChanges {
  readonly question?: Question;
  readonly header?: Header;
  readonly edns?: Edns | undefined;
}

/**
 * One question, as handlers see it. Reader threads give an answer again, without asking, until `STORED_ANSWERS` are dropped. Where it
 * depends on more, the handler says so by a method: on the client, or on what readers cannot know.
 */
export interface Query {
  readonly question: Question;
  /** The question's name in lower case. */
  readonly key: NameKey;
  readonly header: Header;
  readonly recursionDesired: boolean;
  readonly checkingDisabled: boolean;
  readonly edns: Edns | undefined;
  readonly site: QuerySite;
  /** The client, for logs and metrics. Answers must not depend on it. */
  readonly sender: Client;
  /**
   * The client, for an answer that depends on it: from now on no reader repeats the answer. A `cache` in front of the plugin keeps it for
   * all clients, as in CoreDNS, unless you call `forbidCaching`, too.
   */
  dependOnClient(): Client;
  /**
   * Over what it came. Only for questions that a handler states by family: from now on a stored answer is only for clients of the same
   * family.
   */
  dependOnFamily(): 'ipv4' | 'ipv6';
  /** For an answer that depends on more than the options and the name: on the time, chance, a server. No reader repeats it. */
  forbidStoring(): void;
  /**
   * The same, and no `cache` in front of the plugin keeps the answer for its TTL. For answers that are only for clients in the place of this
   * one, and for queries that the plugin passes on now and answers at another time.
   */
  forbidCaching(): void;
  /** For records that have the letters of their source: a stored answer keeps them, whatever letters the next client writes. */
  keepLetters(): void;
  /** Counts this query now, and later each query that gets its stored answer. */
  count(count: HandlerCount): void;
  /** The same query with another question. */
  about(question: Question): Query;
  /** The same query with other parts, for the handlers behind. Its response repeats the parts of the first one. */
  with(changes: QueryChanges): Query;
  /** A query for another name that the answer needs; undefined: the client's query has led to so many that they must form a loop. */
  furtherQuery(question: Question): Query | undefined;
  /** Changes the parts that the response repeats: flags of the header, and the OPT record. */
  repeat(changes: { readonly header?: Header; readonly edns?: Edns | undefined }): void;
  /** A fact by its label, `kubernetes/client-namespace`; undefined: no plugin knows it. */
  metadata(label: string): string | undefined;
  noteMetadata(label: string, text: string): void;
}

/** A count of one query in one family. */
export interface HandlerCount {
  /** Counts with the same key have the same meaning, wherever the query arrived. */
  readonly key: string;
  add(site: Pick<QuerySite, 'server' | 'view'>, times: number): void;
}

export interface CountFamily {
  /** @param values of the labels other than `server` and `view` */
  with(values?: Readonly<Record<string, string>>): HandlerCount;
}

/** Counters for `Query.count`, which count what readers answer in the plugin's place, too. */
export declare const COUNTERS: Service<Counters>;

export interface Counters {
  /**
   * The family of a name, which stays when plans change.
   *
   * @param name `coredns_PLUGIN_requests_total`
   * @param labels `server` and `view`, if included, are those of the query. Default: both
   */
  family(name: string, help: string, labels?: readonly string[]): CountFamily;
}

type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** A line begins with the plugin: `info('plugin/file: Successfully reloaded zone')`. */
export interface Log {
  error(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
}

export interface Clock {
  /** Milliseconds since the Unix epoch. Tests can set it. */
  now(): number;
  /** Milliseconds that never go back, for durations. */
  monotonic(): number;
  /** Calls `run` once after `milliseconds`; never keeps the process alive by itself. */
  after(milliseconds: number, run: () => void): { cancel(): void };
}

/** What a plugin may use of its block while it runs. */
export interface Context {
  /** The zones of its block, in the order of its keys; at least one. */
  readonly zones: readonly NameKey[];
  /** The first listener of its block: `dns://:53`. */
  readonly server: string;
  readonly log: Log;
  readonly clock: Clock;
  /** Asks the whole chain of the block, from its first plugin. */
  chain(query: Query): Answer | Promise<Answer>;
  /** Asks as a client would: other server blocks, for targets of aliases. */
  lookUp(query: Query): Answer | Promise<Answer>;
  /** `questions` have changed. @returns false if readers cannot follow: their table is full */
  changed(): boolean;
  /** A service that few plugins need: `use(UPSTREAMS)`. It ends with the plugin. @throws TypeError if the server lacks it */
  use<Value>(service: Service<Value>): Value;
}

/** A key that carries the type of a service. Keys with the same name are the same. */
export interface Service<Value> {
  readonly name: string;
  /** Never there: it holds the type. */
  readonly value?: Value | undefined;
}

/** The answers that readers and caches of the block give again. */
export declare const STORED_ANSWERS: Service<StoredAnswers>;

export interface StoredAnswers {
  /** Call it when the sources of answers change: stored answers are then dropped. */
  drop(): void;
}

/** Servers to ask. */
export declare const UPSTREAMS: Service<Upstreams>;

export interface Upstreams {
  /**
   * Opens a server to ask. Nothing is sent before `ask`.
   *
   * @param address `192.0.2.1`, `192.0.2.1:5353`, `[2001:db8::1]:53`, `tcp://192.0.2.1`, `tls://192.0.2.1`
   * @throws an Error for another text, or a file that cannot be read
   */
  open(address: string, options?: UpstreamOptions): Upstream;
}

export interface UpstreamOptions {
  /** Default: `udp`, and `tcp` after a truncated reply. */
  readonly network?: 'udp' | 'tcp' | undefined;
  /** Milliseconds that a reply may take. Default: 2000. */
  readonly timeout?: number | undefined;
  /** For `tls://`. Paths of files in PEM form. Default: the authorities of Node.js, no certificate of our own. */
  readonly tls?:
    | {
        /** The name that the server's certificate must have. Default: its address. */
        readonly serverName?: string | undefined;
        readonly authorities?: string | undefined;
        readonly certificate?: string | undefined;
        readonly key?: string | undefined;
      }
    | undefined;
}

export interface Upstream {
  /** `192.0.2.1:53` */
  readonly name: string;
  /** Sends the client's query, with its flags and EDNS options; no reader repeats the answer. @throws an Error: there is no reply */
  ask(query: Query): Promise<Answer>;
}

/** Answers for reader threads. Since 2.1.0. */
export declare const PUBLICATIONS: Service<NamePublications>;

export interface NamePublications {
  /**
   * A publication, empty so far, for the handler's `publishes`. Readers look for names of these zones in it, and ask the plugin for all
   * that they do not find, denials among them. Call it in `create`, once.
   *
   * @param zones of the handler's questions, at most 1,000, as few and as deep as hold all names
   * @param counts of each query that gets a published answer from a reader: those that `handle` adds for it. Default: none
   */
  open(zones: ReadonlySet<NameKey>, counts?: readonly HandlerCount[]): NamePublication;
}

export interface NamePublication {
  readonly zones: ReadonlySet<NameKey>;
  readonly counts: readonly HandlerCount[];
  /**
   * Gives readers these answers in place of all former ones. They give them until the next call, with the same TTLs; a `cache` in front
   * bounds these. Readers rotate addresses where the block does. Call it in `start` or later.
   *
   * @param answers of at most 10,000 names. Each question at most once; meta-types such as ANY have no answers
   * @returns false: they are too many, or the table has no room. Readers then ask for all names
   * @throws an Error for an answer without records, with a malformed record, or outside the zones; the former answers stay
   */
  replace(answers: Iterable<PublishedAnswer>): boolean;
}

/** The answer to a question of class IN. */
export interface PublishedAnswer {
  readonly name: NameKey;
  readonly type: number;
  /** At least one. Their owners take the letters of the question. */
  readonly records: readonly ResourceRecord[];
  readonly additionals?: readonly ResourceRecord[];
  readonly authoritative: boolean;
}

/** Kinds of object on API servers. */
export declare const WATCHES: Service<Watches>;

export interface Watches {
  /**
   * Follows a kind of object of a cluster: lists it, watches it, and tries again after each failure. Call it in `start`. It needs the
   * permissions list and watch.
   *
   * @param changed called after changes of the objects or of the state, at most once in 10 ms
   * @throws an Error that says why there is no cluster
   */
  follow<Value>(kind: WatchedKind<Value>, changed: () => void): Promise<Watch<Value>>;
}

/** A kind of object, and what to keep of it. */
export interface WatchedKind<Value> {
  /** Its API group: `networking.k8s.io`; empty for the core group. */
  readonly group: string;
  /** Best first: the first that the server has is followed. */
  readonly versions: readonly [string, ...string[]];
  /** As in paths: `ingresses`. */
  readonly resource: string;
  /** A label selector. Default: all objects. */
  readonly labels?: string | undefined;
  /** Default: the cluster of the pod, by its service account. */
  readonly kubeconfig?: { readonly file: string; readonly context?: string | undefined } | undefined;
  /**
   * What to keep of an object, as little as possible; undefined: nothing. The object is as the server sends it: check each field. An
   * object that it throws for is logged and left out.
   */
  read(object: unknown): Value | undefined;
}

export interface Watch<Value> {
  /** What `read` gave, by `namespace/name`, or by the name of objects without a namespace. */
  readonly objects: ReadonlyMap<string, Value>;
  /**
   * `followed`: listed at least once; its objects stay, even while the server is away. `absent`: the server does not have the kind, or
   * forbids it; it is asked again.
   */
  readonly state: 'listing' | 'followed' | 'absent';
}

/** A definition with the API that it is for. */
export type Defined<Definition> = Definition & { readonly api: typeof API };

/** Checks the shape of a definition, for a message at once. @throws TypeError */
export declare function definePlugin<const Name extends string, Options>(
  definition: PluginDefinition<Name, Options>,
): Defined<PluginDefinition<Name, Options>>;

/** All questions. */
export declare const ALL_QUESTIONS: Questions;
/** For handlers that only observe, or only change answers of others. */
export declare const NO_QUESTIONS: Questions;

/** All questions about these names and the names below them. The set may change. @param types default: all */
export declare function namesWithin(zones: ReadonlySet<NameKey>, types?: Match['types']): Questions;

/** All names, of these types. */
export declare function anyName(types: ReadonlySet<number>): Questions;

/** Reads the use of a directive without settings. @throws the fault of an argument */
export declare function readBareUse(cursor: Cursor): void;

/** @returns what is wrong with a handler, for a message; undefined: a host can ask it. Since 2.1.0. */
export declare function findHandlerFault(handler: Handler): string | undefined;

/** @returns what is wrong with limits, for a message; undefined: a host can apply them */
export declare function findLimitsFault(limits: RateLimits): string | undefined;

/** A mistake in a Corefile, for `Cursor.whole`. @param remedy what to do: a whole sentence */
export declare function fault(message: string, word: Word, remedy: string): Error;

/**
 * Reads the lines in the block of a use, each by the reader of its first word.
 *
 * @param readers called with the words behind the first, and with the first
 * @throws a fault for another word
 */
export declare function readLines(
  use: Use,
  readers: ReadonlyMap<string, (args: readonly Word[], name: Word) => void>,
): void;
