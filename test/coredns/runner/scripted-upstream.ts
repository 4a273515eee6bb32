/**
 * A DNS server on loopback that answers by rules, over UDP and TCP, or over TLS.
 */
import { readFileSync } from 'node:fs';
import { decodeMessage } from '@portolan/dns/message.ts';
import { className, opcodeName, parseRcode, typeName } from '@portolan/dns/mnemonics.ts';
import { parseName } from '@portolan/dns/name.ts';
import { CLASS, type Message, RCODE, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import { describeOption } from '@portolan/ops/compare/described-reply.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import type { ReceivedQuery } from '@portolan/testing/upstream/received-query.ts';
import { readRecord } from './record-text.ts';
import type { UpstreamRule, UpstreamScript } from './recorded-case.ts';

type Protocol = 'udp' | 'tcp' | 'tls';
type CountedRule = UpstreamRule & { used: number };

const NOTIFY = 4;

export interface Certificate {
  readonly certificate: string;
  readonly key: string;
}

export class ScriptedUpstream {
  readonly #port: number;
  readonly #certificate: Certificate | undefined;
  #rules: CountedRule[] = [];
  #seen: string[] = [];
  #server: LoopbackUpstream | undefined;

  /** @param certificate paths of files; undefined: no TLS */
  constructor(port: number, script: UpstreamScript, certificate: Certificate | undefined) {
    this.#port = port;
    this.#certificate = script.tls === true ? certificate : undefined;
    this.change(script);
  }

  change({ rules }: UpstreamScript): void {
    if (rules !== undefined) this.#rules = rules.map((rule) => ({ ...rule, used: 0 }));
  }

  /** What was asked since the last time, health checks left out. */
  takeSeen(): readonly string[] {
    const seen = this.#seen;
    this.#seen = [];
    return seen;
  }

  async up(): Promise<void> {
    if (this.#server !== undefined) return;
    const certificate = this.#certificate;
    const tls = certificate && {
      cert: readFileSync(certificate.certificate),
      key: readFileSync(certificate.key),
    };
    const options = { port: this.#port, tls, remembers: false };
    this.#server = await LoopbackUpstream.start((received) => this.#react(received), options);
  }

  async down(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    await server?.stop();
  }

  #react(received: ReceivedQuery): void {
    const { octets, over, send, after } = received;
    let query: Message;
    try {
      query = decodeMessage(octets);
    } catch {
      return;
    }
    const stream = this.#certificate === undefined ? 'tcp' : 'tls';
    const protocol = over === 'udp' ? 'udp' : stream;
    const [question] = query.questions;
    const isHealthCheck = question?.name === '.' && question.type === TYPE.NS;
    if (!isHealthCheck) this.#seen.push(describeQuery(query, protocol));
    const rule = this.#rules.find((each) => fits(each, query, protocol));
    if (rule !== undefined) rule.used += 1;
    if (rule?.drop === true) return;
    const answer = () => send(makeReply(query, rule));
    if (rule?.delay_ms === undefined) answer();
    else after(rule.delay_ms, answer);
  }
}

function fits(rule: CountedRule, { questions }: Message, protocol: Protocol): boolean {
  const [question] = questions;
  const type = question === undefined ? 'NONE' : typeName(question.type);
  return (
    new RegExp(rule.name ?? '').test((question?.name ?? '.').toLowerCase()) &&
    ['*', type].includes(rule.type ?? '*') &&
    ['*', protocol].includes(rule.proto ?? '*') &&
    (rule.times === undefined || rule.used < rule.times)
  );
}

const WRONG_QUESTION = [{ name: parseName('wrong.invalid.'), type: TYPE.A, class: CLASS.IN }];

/** NOTIFY gets only a response code, whatever the rules are. */
function makeReply(query: Message, found: UpstreamRule | undefined): Message {
  const name = query.questions[0]?.name ?? '.';
  const isNotify = query.header.opcode === NOTIFY;
  const rule = isNotify ? undefined : found;
  const records = (lines: readonly string[] = []): readonly ResourceRecord[] =>
    lines.map((line) => readRecord(line.replaceAll('{name}', name)));
  return {
    header: {
      ...query.header,
      id: rule?.wrong_id === true ? query.header.id ^ 1 : query.header.id,
      response: true,
      authoritative: isNotify || rule?.aa === true,
      truncated: rule?.tc === true,
      authenticData: rule?.ad === true,
      checkingDisabled: false,
      recursionAvailable: rule?.ra !== false,
      rcode: isNotify ? RCODE.NOERROR : rcodeFor(rule),
    },
    questions: rule?.wrong_question === true ? WRONG_QUESTION : query.questions,
    answers: records(rule?.answer),
    authorities: records(rule?.authority),
    additionals: records(rule?.additional),
    edns: query.edns && { ...query.edns, dnssecOk: false, udpSize: 8192, options: [] },
  };
}

function rcodeFor(rule: UpstreamRule | undefined): number {
  return rule === undefined ? RCODE.REFUSED : (parseRcode(rule.rcode ?? 'NOERROR') ?? RCODE.SERVFAIL);
}

const FLAGS = [
  ['authoritative', 'aa'],
  ['truncated', 'tc'],
  ['recursionDesired', 'rd'],
  ['recursionAvailable', 'ra'],
  ['authenticData', 'ad'],
  ['checkingDisabled', 'cd'],
] as const;

/** `name class type protocol flags edns:size:do options`. */
function describeQuery({ header, questions, edns }: Message, protocol: Protocol): string {
  const [question] = questions;
  const flags = FLAGS.flatMap(([flag, name]) => (header[flag] ? [name] : []));
  const words = [
    ...(header.opcode === 0 ? [] : [opcodeName(header.opcode)]),
    question?.name ?? '.',
    question === undefined ? '-' : className(question.class),
    question === undefined ? 'NONE' : typeName(question.type),
    protocol,
    flags.join(',') || '-',
  ];
  if (edns !== undefined) {
    words.push(`edns:${edns.udpSize}${edns.dnssecOk ? ':do' : ''}`);
    words.push(...edns.options.map((option) => describeOption(option).join('=')));
  }
  return words.join(' ');
}
