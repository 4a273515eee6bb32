/**
 * `whoami`: the client's own address, and its port in an SRV record. Source: plugin/whoami of CoreDNS 1.14.7.
 */
import {
  ALL_QUESTIONS,
  type Answer,
  definePlugin,
  type Handler,
  type Query,
  type ResourceRecord,
  readBareUse,
  toName,
} from '@portolan/plugin';

export const whoami = definePlugin({
  name: 'whoami',
  answers: true,
  syntax: ['whoami'],
  examples: ['whoami'],
  read(cursor): undefined {
    cursor.firstUse(() => readBareUse(cursor));
  },
  create: () => ({ handler: createWhoamiHandler() }),
});

const ROOT = toName('.');

/** Answers every question, whatever its type. */
export function createWhoamiHandler(): Handler {
  return {
    name: 'whoami',
    role: 'other',
    questions: ALL_QUESTIONS,
    answers: 'unchanged',
    handle: tellClient,
  };
}

function tellClient(query: Query): Answer {
  const { question } = query;
  const { address, port, transport } = query.dependOnClient();
  const kind = address.includes(':') ? 'AAAA' : 'A';
  const own = { name: question.name, class: question.class, ttl: 0 };
  // The name contains the transport protocol; for TLS it is TCP.
  const protocol = transport === 'udp' ? '_udp' : '_tcp';
  const service: ResourceRecord = {
    name: toName(question.name === ROOT ? `${protocol}.` : `${protocol}.${question.name}`),
    class: question.class,
    ttl: 0,
    data: { kind: 'SRV', priority: 0, weight: 0, port, target: ROOT },
  };
  return {
    kind: 'records',
    records: [],
    additionals: [{ ...own, data: { kind, address: withoutZone(address) } }, service],
    authoritative: true,
  };
}

/** `fe80::1%eth0` as `fe80::1`: a record has no place for the interface. */
function withoutZone(address: string): string {
  return address.split('%', 1)[0] ?? address;
}
