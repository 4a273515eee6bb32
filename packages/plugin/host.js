/**
 * A host for the conformance kit: a server block whose other plugins answer nothing.
 */
import {
  CLASS,
  COUNTERS,
  EMPTY_ANSWER,
  PUBLICATIONS,
  STORED_ANSWERS,
  TYPE,
  toKey,
  toName,
  UPSTREAMS,
  WATCHES,
} from './index.js';

const HEADER = {
  id: 4711,
  response: false,
  opcode: 0,
  authoritative: false,
  truncated: false,
  recursionDesired: true,
  recursionAvailable: false,
  authenticData: false,
  checkingDisabled: false,
  rcode: 0,
};
const SITE = { server: 'dns://:53', zone: 'example.org.', view: '', octets: 40 };

/** What other servers and the rest of the chain answer. */
export const BEHIND = Object.freeze({ ...EMPTY_ANSWER });

/** What plugins behind answer to a name, in turn. */
export const ANSWERS_BEHIND = [
  () => BEHIND,
  () => Object.freeze({ kind: 'nxdomain', aliases: [], soa: undefined, authoritative: false }),
  () => Object.freeze({ kind: 'servfail' }),
  (name) => {
    const record = { name, class: CLASS.IN, ttl: 60, data: { kind: 'A', address: '192.0.2.7' } };
    return Object.freeze({ kind: 'records', records: [record], additionals: [], authoritative: false });
  },
];

const NO_MARKS = {
  isForAll: true,
  mayBeCached: true,
  clientWasRead: false,
  wasUsed: false,
  furtherQueries: 0,
};

/** A question, and whether its answer may be given to others. */
export class KitQuery {
  header;
  edns;
  question;
  key;
  sender;
  site = SITE;
  #marks;

  constructor(question, sender, parts = {}, marks = { ...NO_MARKS }) {
    this.header = parts.header ?? HEADER;
    this.edns = parts.edns;
    this.question = question;
    this.key = toKey(question.name);
    this.sender = sender;
    this.#marks = marks;
  }

  get recursionDesired() {
    return this.header.recursionDesired;
  }

  get checkingDisabled() {
    return this.header.checkingDisabled;
  }

  /** What the plugin has said of the answer. `isForAll`: readers may give it again. `mayBeCached`: a cache in front may. */
  get marks() {
    return this.#marks;
  }

  dependOnClient() {
    this.#marks.clientWasRead = true;
    this.forbidStoring();
    return this.sender;
  }

  dependOnFamily() {
    this.#marks.wasUsed = true;
    return this.sender.address.includes(':') ? 'ipv6' : 'ipv4';
  }

  forbidStoring() {
    this.#marks.isForAll = false;
    this.#marks.wasUsed = true;
  }

  forbidCaching() {
    this.#marks.mayBeCached = false;
    this.forbidStoring();
  }

  keepLetters() {
    this.#marks.wasUsed = true;
  }

  count(count) {
    this.#marks.wasUsed = true;
    count.add(this.site, 1);
  }

  about(question) {
    return this.with({ question });
  }

  with({ question = this.question, ...changes }) {
    const parts = { header: this.header, edns: this.edns, ...changes };
    return new KitQuery(question, this.sender, parts, this.#marks);
  }

  furtherQuery(question) {
    this.#marks.furtherQueries += 1;
    return this.#marks.furtherQueries > 32 ? undefined : this.about(question);
  }

  repeat() {
    this.#marks.wasUsed = true;
  }

  metadata() {
    return undefined;
  }

  noteMetadata() {
    this.#marks.wasUsed = true;
  }
}

/** The server block of `example.org`. */
export const BLOCK = {
  zones: [toKey('example.org.')],
  resolve: (path) => path,
  readRecord,
  readPattern: (text) => new RegExp(text),
};

/** A context whose time the kit sets, and the timers that the plugin has left. */
export function makeHost() {
  const silent = () => {};
  const timers = new Set();
  const host = { now: Date.UTC(2026, 0, 1), timers, published: [] };
  const services = new Map([
    [COUNTERS.name, { family: makeFamily }],
    [STORED_ANSWERS.name, { drop: silent }],
    [PUBLICATIONS.name, { open: (zones, counts = []) => openPublication(zones, counts, host.published) }],
    [UPSTREAMS.name, { open: (name) => ({ name, ask: askUpstream }) }],
    [WATCHES.name, { follow: async () => ({ objects: new Map(), state: 'followed' }) }],
  ]);
  host.context = {
    zones: BLOCK.zones,
    server: SITE.server,
    log: { error: silent, warn: silent, info: silent, debug: silent },
    clock: {
      now: () => host.now,
      monotonic: () => host.now,
      after(milliseconds, run) {
        const timer = setTimeout(() => {
          timers.delete(timer);
          run();
        }, milliseconds);
        timer.unref();
        timers.add(timer);
        return {
          cancel() {
            clearTimeout(timer);
            timers.delete(timer);
          },
        };
      },
    },
    chain: async () => BEHIND,
    lookUp: async () => ({ kind: 'refused' }),
    changed: () => true,
    use({ name }) {
      const service = services.get(name);
      if (service === undefined) throw new TypeError(`no service: ${name}`);
      return service;
    },
  };
  return host;
}

/** Has `Date` show the time of a host too. It goes on, for loops that wait for it. @returns a function that restores it */
export function moveDate(host) {
  const SystemDate = globalThis.Date;
  const began = performance.now();
  const now = () => host.now + Math.floor(performance.now() - began);
  globalThis.Date = new Proxy(SystemDate, {
    apply: () => new SystemDate(now()).toString(),
    construct: (target, given, called) =>
      Reflect.construct(target, given.length === 0 ? [now()] : given, called),
    get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
  });
  return () => {
    globalThis.Date = SystemDate;
  };
}

/** @param published gets the answers of all publications */
function openPublication(zones, counts, published) {
  const own = { zones: new Set(zones), answers: [] };
  published.push(own);
  return {
    zones,
    counts,
    replace(answers) {
      own.answers = [...answers];
      return true;
    },
  };
}

function makeFamily(name) {
  if (!/^[a-z][a-z0-9_]*$/.test(name)) throw new TypeError(`not a name of a metric: ${name}`);
  return { with: () => ({ key: name, add() {} }) };
}

async function askUpstream(query) {
  query.forbidStoring();
  return BEHIND;
}

/** Of a host's reader of records only what examples need. */
function readRecord(text, origin) {
  const [, owner, ttl = '3600', type, data] =
    /^(\S+)\s+(?:(\d+)\s+)?(?:IN\s+)?([A-Z]+)\s+(.+)$/i.exec(text) ?? [];
  const kind = type?.toUpperCase();
  const words = data?.split(/\s+/) ?? [];
  const toFullName = (word) =>
    word === '@' ? origin : toName(word.endsWith('.') || origin === '.' ? word : `${word}.${origin}`);
  const read = READERS[kind];
  if (read === undefined) throw new Error(`not a record: ${text}`);
  return {
    name: toFullName(owner),
    class: CLASS.IN,
    ttl: Number(ttl),
    data: { kind, ...read(words, toFullName) },
  };
}

const READERS = {
  A: ([address]) => ({ address }),
  AAAA: ([address]) => ({ address }),
  NS: ([target], toFullName) => ({ target: toFullName(target) }),
  CNAME: ([target], toFullName) => ({ target: toFullName(target) }),
  PTR: ([target], toFullName) => ({ target: toFullName(target) }),
  MX: ([preference, exchange], toFullName) => ({
    preference: Number(preference),
    exchange: toFullName(exchange),
  }),
  TXT: (words) => ({ strings: [new TextEncoder().encode(words.join(' '))] }),
  SRV: ([priority, weight, port, target], toFullName) => ({
    priority: Number(priority),
    weight: Number(weight),
    port: Number(port),
    target: toFullName(target),
  }),
  SOA: ([primary, mailbox, ...numbers], toFullName) => {
    const [serial, refresh, retry, expire, minimum] = numbers.map(Number);
    return {
      primary: toFullName(primary),
      mailbox: toFullName(mailbox),
      serial,
      refresh,
      retry,
      expire,
      minimum,
    };
  },
};

/** The plugins of CoreDNS up to `cache`: one that stands before these sees queries that the cache could answer. */
export const UP_TO_CACHE = new Set(
  `root metadata geoip cancel proxyproto quic grpc_server https https3 portolan timeouts multisocket reload nsid bufsize
    bind debug trace ready health pprof shed prometheus errors log dnstap local dns64 any chaos loadbalance tsig
    rewrite autopath acl cache`.split(/\s+/),
);

/** Numbers of types that questions ask for. */
export const ASKED_TYPES = [
  TYPE.A,
  TYPE.NS,
  TYPE.CNAME,
  TYPE.SOA,
  TYPE.PTR,
  TYPE.MX,
  TYPE.TXT,
  TYPE.AAAA,
  TYPE.SRV,
  TYPE.HTTPS,
  TYPE.ANY,
];
