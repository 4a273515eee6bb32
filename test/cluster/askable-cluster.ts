/**
 * A cluster with both ways to an answer: the plain chain, and the table.
 */
import { type AnswerSlowly, createAnswerSlowly } from '../../src/chain/answer-slowly.ts';
import type { Client } from '../../src/chain/query.ts';
import type { Clock } from '../../src/ground/clock.ts';
import { silentLog } from '../../src/ground/log.ts';
import { createClusterChain } from '../../src/handlers/cluster-chain.ts';
import { Cluster, type ClusterOptions } from '../../src/kube/cluster.ts';
import type { ClusterObject } from '../../src/kube/objects.ts';
import { TableReader } from '../../src/table/reader.ts';
import { VERDICT } from '../../src/table/types.ts';
import { TableWriter } from '../../src/table/writer.ts';
import { decodeMessage, encodeMessage } from '../../src/wire/message.ts';
import { parseName, toKey } from '../../src/wire/name.ts';
import type { Message, Question } from '../../src/wire/types.ts';
import { CLASS } from '../../src/wire/types.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { QUERY_HEADER } from '../support/queries.ts';

export type DialectName = ClusterOptions['dialect'];

const CLIENT: Client = { address: '192.0.2.53', port: 5353, transport: 'tcp' };
/** A packet as large as any. */
const packet = new Uint8Array(65_535);

export class AskableCluster {
  readonly cluster: Cluster;
  readonly table: TableWriter;
  readonly clock: Clock = new ManualClock();
  readonly #reader: TableReader;
  readonly #answerSlowly: AnswerSlowly;

  constructor(dialect: DialectName, options: Partial<ClusterOptions> = {}) {
    this.table = new TableWriter({ readers: 1, reservation: 64 * 2 ** 20, seed: 4711 });
    const domain = toKey(parseName('cluster.local.'));
    const ownAddresses = ['192.0.2.2', 'fd00::2'];
    const all: ClusterOptions = { domain, dialect, pods: 'insecure', ttl: 30, ownAddresses, ...options };
    this.cluster = new Cluster(all, this.table, this.clock, silentLog);
    this.#reader = new TableReader(this.table.memory, 0);
    const { hiddenTypes = new Set<number>() } = options;
    const { cluster, clock } = this;
    const chain = createClusterChain({ cluster, dialect, hiddenTypes, clock, log: silentLog });
    const recursionAvailable = dialect === 'kube-dns';
    this.#answerSlowly = createAnswerSlowly(chain, { recursionAvailable, log: silentLog });
  }

  /** Lists exactly these objects, of all kinds, and publishes them. */
  list(objects: readonly ClusterObject[]): void {
    this.begin(objects);
    const { services, endpoints, namespaces, pods } = this.cluster;
    for (const store of [services, endpoints, namespaces, pods]) store.listCompleted();
    this.cluster.settle();
  }

  /** Begins to list these objects, and never comes to the end. */
  begin(objects: readonly ClusterObject[]): void {
    const { services, endpoints, namespaces, pods } = this.cluster;
    for (const store of [services, endpoints, namespaces, pods]) store.listStarted();
    for (const object of objects) this.upsert(object);
    this.cluster.settle();
  }

  upsert(object: ClusterObject): void {
    if (object.kind === 'Service') this.cluster.services.upsert(object);
    else if (object.kind === 'Endpoints') this.cluster.endpoints.upsert(object);
    else if (object.kind === 'Namespace') this.cluster.namespaces.upsert(object);
    else this.cluster.pods.upsert(object);
  }

  async askChain(question: Question): Promise<Message> {
    const response = await this.#answerSlowly(encodeMessage(queryFor(question)), CLIENT);
    if (response === undefined) throw new Error(`no response: ${question.name} ${question.type}`);
    return decodeMessage(response);
  }

  /** What the table says; nothing if it wants the chain to be asked. */
  askTable(question: Question): Message | undefined {
    const query = encodeMessage(queryFor(question));
    packet.set(query);
    const length = this.#reader.answer(packet, 0, query.length, packet.length, packet.length);
    return length === VERDICT.ASK ? undefined : decodeMessage(packet.slice(0, length));
  }
}

export function question(name: string, type: number): Question {
  return { name: parseName(name), type, class: CLASS.IN };
}

function queryFor(asked: Question): Message {
  return {
    header: { ...QUERY_HEADER, id: 1 },
    questions: [asked],
    answers: [],
    authorities: [],
    additionals: [],
    edns: undefined,
  };
}
