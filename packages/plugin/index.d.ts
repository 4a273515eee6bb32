/**
 * The contract between Portolan and plugins of others. It follows semantic versioning: a plugin for `api: 1` runs with every host that
 * has API 1,
 * unless it uses what a later version of the package has added: that says since when.
 */

export declare const API: 1;

/** What a plugin module exports as its default. */
export interface PluginModule<Options = unknown> {
  readonly api: 1;
  /** Its word in a Corefile: lower-case letters, digits and `_`. */
  readonly name: string;
  /** The plugin of CoreDNS that sees queries directly after it. */
  readonly before: string;
  /** For people: one text for each form of the directive. */
  readonly syntax: readonly string[];
  /** Uses of the directive, as in a Corefile. The conformance kit runs each of them. At least one. */
  readonly examples: readonly string[];
  /** Reads all uses in one server block. Throw `fault` for a mistake of its author. Must not read files of the cluster or ask others. */
  parse(uses: readonly Use[], block: Block): Options;
  /** Makes the plugin of one server block. It must not start anything: `start` does. */
  create(options: Options, context: Context): Instance;
}

/** A word of a Corefile, with the place where it is written, through imports. */
export interface Word {
  readonly text: string;
  /** `file:line`. */
  readonly at: string;
}

/** One use of the directive. */
export interface Use {
  /** The word of the plugin. */
  readonly name: Word;
  /** The words behind it in its line. */
  readonly args: readonly Word[];
  /** The lines of its block, without the braces; empty without a block. */
  readonly lines: readonly (readonly Word[])[];
}

/** The server block of a use. */
export interface Block {
  /** Its zones: lower case, absolute. */
  readonly zones: readonly string[];
  /** A path relative to `root` of the block. */
  resolve(path: string): string;
  /**
   * Reads a record as in a zone file: `www 60 IN A 192.0.2.1`. The default TTL is 3600. Since 1.1.
   *
   * @param origin of names that do not end with a dot
   * @throws an Error that says what is wrong with it
   */
  readRecord(text: string, origin: string): Rr;
  /**
   * A regular expression in Go's syntax, which takes a time linear in the text: names come from clients. Since 1.2.
   *
   * @throws an Error that says what is wrong with it
   */
  readPattern(text: string): Pattern;
}

export interface Pattern {
  /** Whether it matches anywhere in the text. */
  test(text: string): boolean;
}

/** A plugin of a server block. */
export interface Instance {
  /**
   * The questions that it may answer or change. All others it must pass on as they are, with the reply as it is. Too wide costs
   * speed; too narrow gives wrong answers, and the conformance kit finds it.
   */
  readonly questions: Questions;
  /** Never called after `stop` has resolved. An error is answered SERVFAIL, logged, and counted in `coredns_panics_total`. */
  handle(query: Query, next: Next): Reply | Promise<Reply>;
  /** Before queries arrive: reads, connects. The host waits for it, at most 60 s. @throws an Error that says why it cannot start */
  start?(signal: AbortSignal): void | Promise<void>;
  /** For `ready`. Default: always ready. */
  isReady?(): boolean;
  /** Ends all that `start` began. */
  stop?(): void | Promise<void>;
}

/** Asks the plugins behind this one. The query may be another one: `query.with({ name })`. */
export type Next = (query: Query) => Promise<Reply>;

/** Made by `all`, `within` or `anyName`. */
export type Questions =
  | { readonly kind: 'all' }
  /** Names in these zones; without types, of all types. */
  | { readonly kind: 'within'; readonly zones: readonly string[]; readonly types?: readonly number[] }
  | { readonly kind: 'any name'; readonly types: readonly number[] };

export interface Query {
  /** Absolute, with the client's capitals. */
  readonly name: string;
  /** RFC 1035 section 3.2.2: 1 is A. */
  readonly type: number;
  /** Once it is read, the reply is only for this client: no reader thread repeats it. */
  readonly client: { readonly address: string; readonly transport: string };
  /** The zone of the server block by which it was chosen. */
  readonly zone: string;
  /** Aborted when the deadline of 5 s is over. */
  readonly signal: AbortSignal;
  with(changes: { readonly name?: string; readonly type?: number }): Query;
}

export type Reply =
  | {
      readonly kind: 'records';
      readonly records: readonly Rr[];
      readonly extra?: readonly Rr[];
      /** Default: true. */
      readonly authoritative?: boolean;
      readonly keep?: Keep;
    }
  /** The name has no records of the type, or does not exist. */
  | {
      readonly kind: 'denied';
      readonly exists: boolean;
      /** Without it, resolvers do not keep the denial. It may be left out since 1.1. */
      readonly soa?: Rr | undefined;
      readonly keep?: Keep;
    }
  /** `reason` is logged by `errors`. */
  | { readonly kind: 'rcode'; readonly rcode: 1 | 2 | 4 | 5; readonly reason?: string }
  /** A whole DNS message. */
  | { readonly kind: 'message'; readonly wire: Uint8Array }
  /** The reply of `next`, `lookUp` and `upstream(…).ask`, with what can be read of it. Return it to leave it as it is. */
  | {
      readonly kind: 'opaque';
      readonly rcode: number;
      readonly records: readonly Rr[];
      /** Those of the authority section. Since 1.2. */
      readonly authorities?: readonly Rr[];
    }
  /** Nothing is sent. `next` gives it if a plugin behind decides so. Since 1.2. */
  | { readonly kind: 'drop' };

/**
 * Whether reader threads may repeat the reply without asking. `never` is the default. `until-changed`: until `context.changed()` or
 * another Corefile; its TTLs stay whole.
 */
export type Keep = 'never' | 'until-changed';

export interface Rr {
  readonly name: string;
  readonly type: number;
  /** Seconds. */
  readonly ttl: number;
  /** As in a zone file: `192.0.2.1`, `10 mail.example.org.`, or `\# 4 c0000201` (RFC 3597). */
  readonly data: string;
}

export interface Context {
  readonly log: Log;
  /** The listeners of its block: `dns://:53`. */
  readonly server: string;
  /** A counter `coredns_PLUGIN_NAME`, with the labels `server` and `view`. It counts replies that readers repeat, too. */
  counter(name: string, help: string): Counter;
  /** Asks as a client would: other server blocks, for targets of aliases. */
  lookUp(query: Query): Promise<Reply>;
  /** Replies kept `until-changed` are stale. */
  changed(): void;
  /**
   * Follows a kind of object of a cluster: lists it, watches it, and tries again after each failure. Call it in `start`; it ends with
   * the plugin. It needs the permissions list and watch. Since 1.1.
   *
   * @param changed called after changes of the objects or of the state, at most once in 10 ms
   * @throws an Error that says why there is no cluster
   */
  watch<Value>(kind: WatchedKind<Value>, changed: () => void): Promise<Watch<Value>>;
  /**
   * Opens a server to ask. Nothing is sent before `ask`; it is closed with the plugin. Since 1.1.
   *
   * @param address `192.0.2.1`, `192.0.2.1:5353`, `[2001:db8::1]:53`, `tcp://192.0.2.1`, `tls://192.0.2.1`
   * @throws an Error for another text, or a file that cannot be read
   */
  upstream(address: string, options?: UpstreamOptions): Upstream;
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
  /** Sends the client's query, with its flags and EDNS options. @throws an Error that says why there is no reply */
  ask(query: Query): Promise<Reply>;
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

export interface Counter {
  add(query: Query): void;
}

export interface Log {
  error(message: string): void;
  warn(message: string): void;
  info(message: string): void;
  debug(message: string): void;
}

/** Checks the shape of a module, for a message at once. @throws TypeError */
export declare function definePlugin<Options>(module: PluginModule<Options>): PluginModule<Options>;

/** All questions. */
export declare function all(): Questions;

/** Names in zones, the zones themselves included. @param types default: all */
export declare function within(zones: readonly string[], types?: readonly number[]): Questions;

/** All names, of these types. */
export declare function anyName(types: readonly number[]): Questions;

/** A mistake in a Corefile. @param remedy what to do: a whole sentence */
export declare function fault(message: string, word: Word, remedy: string): Error;

/** A name in lower case that ends with a dot. Since 1.1. */
export declare function absolute(name: string): string;

/** Whether a name is a zone or below it, without regard to case. Since 1.1. @param zone in lower case, absolute */
export declare function isWithin(name: string, zone: string): boolean;

/**
 * Reads the lines in the block of a use, each by the reader of its first word. Since 1.1.
 *
 * @param readers called with the words behind the first, and with the first
 * @throws a fault for another word
 */
export declare function readLines(
  use: Use,
  readers: ReadonlyMap<string, (args: readonly Word[], name: Word) => void>,
): void;
