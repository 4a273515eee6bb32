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

/** What plugins behind answer. */
export const BEHIND = Object.freeze({ ...EMPTY_ANSWER });

/** A question, and whether its answer may be given to others. */
export class KitQuery {
  header;
  edns;
  question;
  key;
  sender;
  site = SITE;
  #marks;

  constructor(question, sender, parts = {}, marks = { isForAll: true, furtherQueries: 0 }) {
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

  /** Whether readers may give the answer again. */
  get isForAll() {
    return this.#marks.isForAll;
  }

  dependOnClient() {
    this.forbidStoring();
    return this.sender;
  }

  dependOnFamily() {
    return this.sender.address.includes(':') ? 'ipv6' : 'ipv4';
  }

  forbidStoring() {
    this.#marks.isForAll = false;
  }

  forbidCaching() {
    this.forbidStoring();
  }

  keepLetters() {}

  count(count) {
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

  repeat() {}

  metadata() {
    return undefined;
  }

  noteMetadata() {}
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
