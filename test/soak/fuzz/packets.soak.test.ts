/**
 * Fuzzes packets of clients and of upstream servers: the readers, the decoder, and the code that waits for replies.
 */
import { FrameParser, frame } from '@portolan/dns/frames.ts';
import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { parseName, toKey } from '@portolan/dns/name.ts';
import {
  DEFAULT_ALGORITHM,
  isMacMalformed,
  ResponseSigner,
  readSignature,
  signQuery,
  verifyQuery,
} from '@portolan/dns/tsig.ts';
import { CLASS, type Message, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import { WireError } from '@portolan/dns/wire-error.ts';
import { scrubReply } from '@portolan/kernel/forward/scrub-reply.ts';
import { mixCase } from '@portolan/kernel/forward/transport/name-case.ts';
import { Outstanding, type OutstandingQuery } from '@portolan/kernel/forward/transport/outstanding.ts';
import { type QueryMessage, writeQuery } from '@portolan/kernel/forward/transport/query-message.ts';
import {
  MAX_HEADER_OCTETS,
  NO_HEADER,
  ProxyHeaderReader,
} from '@portolan/kernel/listen/proxy-protocol/proxy-header.ts';
import { writeHeader } from '@portolan/kernel/listen/proxy-protocol/testing/write-header.ts';
import { composeRecords } from '@portolan/kernel/records/cluster-composer.ts';
import { TableReader } from '@portolan/kernel/table/reader.ts';
import {
  addressNode,
  cachedAddress,
  node,
  query,
  settings,
} from '@portolan/kernel/table/testing/table-answers.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import type { ClusterObject, ServicePort } from '@portolan/kubernetes/objects/objects.ts';
import {
  AskableCluster,
  type DialectName,
} from '@portolan/kubernetes/plugins/kubernetes/testing/askable-cluster.ts';
import { expect, it } from 'vitest';
import { type FuzzTarget, fuzz } from './fuzz.ts';

const NAMES = ['cart.cluster.local', 'x.cluster.local', 'www.example.com', '4.3.2.1.in-addr.arpa', '.'];
const QUERIES = NAMES.flatMap((name) =>
  ['A', 'AAAA', 'SRV', 'ANY', 'SOA', 'TXT'].map((type) => {
    const { packet, length } = query(name, type);
    return packet.slice(0, length);
  }),
);
const OPT = Uint8Array.of(0, 0, 41, 0x10, 0, 0, 0, 0x80, 0, 0, 0);
const OPTIONS = [...QUERIES.map((packet) => Buffer.concat([packet, OPT]))];
for (const packet of OPTIONS) packet[11] = 1;

/** Octets that mean something: pointers, lengths, counts, types, an OPT record with options, whole names. */
const WORDS = [
  [0xc0, 0x0c],
  [0xc0, 0],
  [0xff, 0xff],
  [0, 0],
  [0, 1],
  [63],
  [64],
  [0x80],
  [0, 41],
  [0, 33],
  [0, 6],
  [0, 5],
  [...OPT],
  [0, 0, 41, 0x04, 0xd0, 0, 1, 0, 0, 0, 12, 0, 10, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8],
  [3, 119, 119, 119, 7, 101, 120, 97, 109, 112, 108, 101, 3, 99, 111, 109, 0],
  [0x7f, 0xff, 0xff, 0xff],
].map((octets) => Uint8Array.from(octets));

const START = 32;
const CAPACITY = 4096;
const POISON = 0xa5;

/** A table of names, and one of a cluster's records. Each has addresses at one of `NAMES`, at least. */
const READERS = {
  names: () => {
    const table = new TableWriter({ readers: 1, reservation: 64 * 2 ** 20 });
    const zone = table.defineZone(settings('cluster.local'));
    table.put(node('cluster.local', zone));
    table.put(addressNode('cart.cluster.local', zone, ['10.0.0.1', '10.0.0.2']));
    table.cache(cachedAddress('www.example.com', '192.0.2.1', 60), 0);
    return new TableReader(table.memory, 0);
  },
  'records of CoreDNS': () => readRecords('coredns'),
  'records of kube-dns': () => readRecords('kube-dns'),
} as const;

const PORTS: readonly ServicePort[] = [
  { name: 'http', protocol: 'TCP', port: 80 },
  { name: 'dns', protocol: 'UDP', port: 53 },
];
const SERVICE = { kind: 'Service', namespace: 'a', ports: PORTS } as const;
const CLUSTER: readonly ClusterObject[] = [
  { kind: 'Namespace', name: 'a' },
  { ...SERVICE, name: 'web', address: { kind: 'clusterIPs', addresses: ['10.96.0.1', 'fd00::1'] } },
  { ...SERVICE, name: 'out', address: { kind: 'externalName', name: 'www.example.com' } },
  { ...SERVICE, name: 'db', address: { kind: 'headless' } },
  {
    kind: 'Endpoints',
    namespace: 'a',
    name: 'db-1',
    service: 'db',
    groups: [
      {
        addresses: [
          { address: '10.0.0.1', hostname: 'db-0' },
          ...Array.from({ length: 99 }, (_, index) => ({ address: `10.0.1.${index}`, hostname: undefined })),
        ],
        ports: PORTS,
      },
    ],
  },
];
const CLUSTER_QUERIES = [
  'cluster.local',
  'svc.cluster.local',
  'a.svc.cluster.local',
  'dns-version.cluster.local',
  'web.a.svc.cluster.local',
  '_http._tcp.web.a.svc.cluster.local',
  'out.a.svc.cluster.local',
  'db.a.svc.cluster.local',
  'db-0.db.a.svc.cluster.local',
  '10-0-1-7.db.a.svc.cluster.local',
  '*.a.svc.cluster.local',
  '*.*.svc.cluster.local',
  '10-0-0-1.a.pod.cluster.local',
  '1.0.96.10.in-addr.arpa',
  '1.0.0.10.in-addr.arpa',
  `1.${'0.'.repeat(27)}d.f.ip6.arpa`,
].flatMap((name) =>
  ['A', 'AAAA', 'SRV', 'PTR', 'CNAME', 'ANY', 'SOA', 'TXT'].map((type) => {
    const { packet, length } = query(name, type);
    return packet.slice(0, length);
  }),
);

function readRecords(dialect: DialectName): TableReader {
  const askable = new AskableCluster(dialect);
  askable.list(CLUSTER);
  return new TableReader(askable.table.memory, 0, undefined, composeRecords);
}

it.each(['names', 'records of CoreDNS', 'records of kube-dns'] as const)(
  'a reader of %s answers, drops or asks, and writes nothing outside its packet',
  async (kind) => {
    const reader = READERS[kind]();
    const around = new Uint8Array(START + CAPACITY + 64);
    const untouched = Buffer.alloc(around.length, POISON);
    const sizes = [CAPACITY, 512];
    const run: FuzzTarget['run'] = (input) => {
      const packet = input.subarray(0, CAPACITY);
      for (const transport of ['udp', 'tcp'] as const) {
        for (const size of sizes) {
          if (size < packet.length) continue;
          around.fill(POISON);
          around.set(packet, START);
          const length = reader.answer(around, START, packet.length, size, transport);
          expect(length).toBeLessThanOrEqual(size);
          const end = START + Math.max(packet.length, length, 0);
          expect(untouched.compare(around, 0, START, 0, START)).toBe(0);
          expect(untouched.compare(around, end, around.length, end)).toBe(0);
          if (length > 0)
            expect(decodeMessage(around.slice(START, START + length)).header.response).toBe(true);
        }
      }
    };
    const seeds = [...QUERIES, ...OPTIONS, ...(kind === 'names' ? [] : CLUSTER_QUERIES)];
    await fuzz(kind === 'names' ? 'reader' : 'composer', { seeds, words: WORDS, run });
  },
  300_000,
);

const record = (name: string, data: ResourceRecord['data']): ResourceRecord => ({
  name: parseName(name),
  class: CLASS.IN,
  ttl: 60,
  data,
});
const soa = record('example.com.', {
  kind: 'SOA',
  primary: parseName('ns.example.com.'),
  mailbox: parseName('host.example.com.'),
  serial: 1,
  refresh: 2,
  retry: 3,
  expire: 4,
  minimum: 5,
} as unknown as ResourceRecord['data']);
const REPLIES: readonly (readonly ResourceRecord[])[] = [
  [],
  [record('www.example.com.', { kind: 'A', address: '192.0.2.1' })],
  [
    record('www.example.com.', { kind: 'CNAME', target: parseName('a.example.com.') }),
    record('a.example.com.', { kind: 'A', address: '192.0.2.1' }),
    record('a.example.com.', { kind: 'A', address: '192.0.2.2' }),
  ],
];

const question = {
  name: parseName('www.example.com.'),
  type: TYPE.A,
  class: CLASS.IN,
  dnssecOk: true,
  checkingDisabled: false,
  recursionDesired: true,
};

function replyTo(
  sent: QueryMessage,
  answers: readonly ResourceRecord[],
  authorities: readonly ResourceRecord[],
) {
  const asked = decodeMessage(sent.octets);
  const header: Message['header'] = { ...asked.header, response: true };
  return encodeMessage({ ...asked, header, answers: [...answers], authorities: [...authorities] });
}

const plain = writeQuery(question, 1232);
const replies = [...REPLIES.map((answers) => replyTo(plain, answers, [])), replyTo(plain, [], [soa])];

it('a decoder reads a message or says what is wrong with it', async () => {
  const run: FuzzTarget['run'] = (input) => {
    try {
      const message = decodeMessage(input);
      // What was read can be cleaned and written, or is too long for a message.
      encodeMessage(scrubReply(question, message).message);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
    }
  };
  await fuzz('decoder', { seeds: [...replies, ...OPTIONS], words: WORDS, run });
}, 300_000);

it('a reply of an upstream server is taken, dropped or fails its query', async () => {
  const run: FuzzTarget['run'] = (input) => {
    for (const sent of [plain, mixCase(plain)]) {
      const outstanding = new Outstanding<OutstandingQuery>(
        { strange: 0, otherQuestion: 0, otherCase: 0 },
        () => false,
        1,
      );
      let calls = 0;
      const entry: OutstandingQuery = {
        query: sent,
        id: 0,
        events: {
          replied: (reply) => {
            calls += 1;
            scrubReply(question, reply);
          },
          heard() {},
          failed: () => {
            calls += 1;
          },
        },
      };
      outstanding.admit(entry);
      const packet = Buffer.concat([Buffer.alloc(7), input]);
      if (input.length >= 2) packet.writeUInt16BE(entry.id, 7);
      // As if it had kept the case.
      if (input.length >= sent.questionEnd) packet.set(sent.octets.subarray(12, sent.questionEnd), 19);
      for (const isCut of [false, true]) outstanding.receive(packet, 7, input.length, isCut);
      expect(calls).toBeLessThanOrEqual(1);
    }
  };
  await fuzz('reply', { seeds: replies, words: WORDS, run });
}, 300_000);

it('a stream of messages is cut where their lengths say, however it arrives', async () => {
  const run: FuzzTarget['run'] = (input) => {
    const whole: string[] = [];
    const inPieces: string[] = [];
    const take = (parser: FrameParser, into: string[]) => {
      for (let message = parser.next(); message !== undefined; message = parser.next())
        into.push(Buffer.from(message).toString('hex'));
    };
    const one = new FrameParser();
    const other = new FrameParser();
    one.push(input);
    take(one, whole);
    for (let at = 0; at < input.length; at += 7) {
      other.push(input.subarray(at, at + 7));
      take(other, inPieces);
    }
    expect(inPieces).toEqual(whole);
  };
  const seeds = OPTIONS.map((packet) => Buffer.concat([frame(packet), frame(packet)]));
  await fuzz('stream', { seeds, words: WORDS, run });
}, 300_000);

it('a header of a proxy is read alike, however it arrives', async () => {
  const run: FuzzTarget['run'] = (input) => {
    const whole = readProxyHeader(input);
    const pieces = Array.from({ length: Math.min(input.length, 200) }, (_, end) =>
      input.subarray(0, end + 1),
    );
    const first = pieces.map(readProxyHeader).find(({ length }) => length !== NO_HEADER.INCOMPLETE);
    expect(first ?? whole).toEqual(whole);
    expect(whole.length).toBeLessThanOrEqual(Math.min(input.length, MAX_HEADER_OCTETS));
  };
  const sources = ['192.0.2.1', '2001:db8::1', '::ffff:192.0.2.1'].map((address) => ({
    address,
    port: 4711,
  }));
  const protocols = ['stream', 'datagram'] as const;
  const seeds = [
    ...sources.flatMap((source) =>
      protocols.map((protocol) => Buffer.concat([writeHeader({ source, protocol }), ...OPTIONS.slice(0, 1)])),
    ),
    writeHeader({ source: { address: '192.0.2.1', port: 1 }, command: 'local', tlvs: Buffer.alloc(300) }),
    Buffer.from('PROXY TCP4 192.0.2.1 198.51.100.53 4711 53\r\n'),
    Buffer.from('PROXY TCP6 2001:db8::1 ::ffff:192.0.2.1 65535 0\r\nPROXY UNKNOWN\r\n'),
  ];
  const words = ['PROXY ', 'TCP4', 'UNKNOWN', ' ', '\r\n', '::', '65536', '0'].map((text) =>
    Buffer.from(text),
  );
  await fuzz('proxy-header', { seeds, words: [...words, ...WORDS], run });
}, 300_000);

/** What a header says, and the length of it. */
function readProxyHeader(octets: Uint8Array) {
  const header = new ProxyHeaderReader();
  const length = header.read(octets, 0, octets.length);
  const isRead = length > 0;
  const read = ({ octets: address, length: size }: ProxyHeaderReader['source']) =>
    isRead ? [...address.subarray(0, size)] : [];
  return { length, source: read(header.source), destination: read(header.destination) };
}

it('a signature is read, or the packet is malformed', async () => {
  const key = { name: toKey(parseName('transfer.key.')), secret: Buffer.from('a secret') };
  const run: FuzzTarget['run'] = (input) => {
    const reading = readSignature(input);
    if (reading.kind !== 'signed') return;
    const { signature } = reading;
    expect(signature.message.length).toBeLessThan(input.length);
    const error = verifyQuery(signature, key, 1_800_000_000);
    if (isMacMalformed(signature)) return;
    const signer = new ResponseSigner(signature, key, error, () => 1_800_000_000);
    expect(signer.sign(input.subarray(0, 12)).length).toBeLessThanOrEqual(12 + signer.octets);
  };
  const seeds = QUERIES.map((packet) => signQuery(packet, key, DEFAULT_ALGORITHM, 1_800_000_000).octets);
  await fuzz('signature', { seeds, words: WORDS, run });
}, 300_000);
