/**
 * A cluster that can be asked in both ways: by the chain, and by the table.
 */
import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { parseName, toKey } from '@portolan/dns/name.ts';
import { type ClientTransport, DEFAULT_UDP_SIZE } from '@portolan/dns/response-size.ts';
import { CLASS, type Message, type NameKey, type Question } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { encodeAnswer } from '@portolan/kernel/chain/encode-answer.ts';
import { type Chain, composeChain, type Handler } from '@portolan/kernel/chain/handler.ts';
import { type Client, Query } from '@portolan/kernel/chain/query.ts';
import { type ResponseForm, toNativeForm } from '@portolan/kernel/chain/response-form.ts';
import { QUERY_HEADER } from '@portolan/kernel/chain/testing/queries.ts';
import type { ClientQuery } from '@portolan/kernel/contract/name-owner.ts';
import { composeRecords } from '@portolan/kernel/records/cluster-composer.ts';
import { encodeSocketAddress } from '@portolan/kernel/socket/addresses.ts';
import { TableReader } from '@portolan/kernel/table/reader.ts';
import { DEFAULT_VIEW, VERDICT } from '@portolan/kernel/table/types.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import { createAliasFollower } from '@portolan/plugins/aliases/alias.ts';
import { createAnyHandler } from '@portolan/plugins/any/any.ts';
import { createTypeFilter } from '@portolan/plugins/forward/filtered-types.ts';
import { metaTypesHandler } from '@portolan/plugins/meta-types/plugin.ts';
import type { Dialect } from '../../../dialects/dialect.ts';
import type { ClusterObject } from '../../../objects/objects.ts';
import { Cluster, type ClusterOptions } from '../../../publish/cluster.ts';
import { joinSinks } from '../../../publish/cluster-sinks.ts';
import { findDialect } from '../../../publish/find-dialect.ts';
import { createKubernetesHandler, visibleNames } from '../kubernetes.ts';

export type DialectName = Dialect['name'];

const CLIENT: Client = { address: '192.0.2.53', port: 5353, transport: 'tcp' };
const MAX_OCTETS = 65_535;
/** A packet of maximum size, and the address of its client. */
const packet = new Uint8Array(MAX_OCTETS + 32);

export class AskableCluster {
  readonly cluster: Cluster;
  readonly table: TableWriter;
  readonly clock: Clock = new ManualClock();
  readonly #reader: TableReader;
  readonly #chain: Chain;
  readonly #form: ResponseForm;

  /** @param behind the handlers behind that of the cluster */
  constructor(
    dialectName: DialectName,
    options: Partial<ClusterOptions> = {},
    behind: readonly Handler[] = [],
  ) {
    const dialect = findDialect(dialectName);
    this.table = new TableWriter({ readers: 1, reservation: 64 * 2 ** 20, seed: 4711 });
    const domain = toKey(parseName('cluster.local.'));
    const ownAddresses = ['192.0.2.2', 'fd00::2'];
    const all: ClusterOptions = { domain, dialect, pods: 'insecure', ttl: 30, ownAddresses, ...options };
    this.cluster = new Cluster(all, this.table, this.clock, silentLog);
    this.#reader = new TableReader(this.table.memory, 0, undefined, composeRecords);
    const view = this.table.viewSettings(DEFAULT_VIEW);
    this.table.changeView(DEFAULT_VIEW, {
      ...view,
      recursionAvailable: dialect.recursionAvailable,
      otherQuestions: 'refused',
    });
    const { filteredTypes = new Set<number>() } = options;
    const { cluster, clock } = this;
    const isOurs = (name: NameKey, query: ClientQuery | undefined) =>
      (query === undefined ? cluster.names : visibleNames(cluster, query)).owns(name);
    this.#chain = composeChain([
      metaTypesHandler,
      createAnyHandler(dialect.anyQuestions, isOurs),
      createTypeFilter(filteredTypes, isOurs),
      createAliasFollower(silentLog, clock),
      createKubernetesHandler(cluster),
      ...behind,
    ]);
    this.#form = toNativeForm({
      recursionAvailable: dialect.recursionAvailable,
      udpSize: DEFAULT_UDP_SIZE,
      extendedErrors: 'passed-on',
    });
  }

  /** Lists exactly these objects, of all kinds, and publishes them. */
  list(objects: readonly ClusterObject[]): void {
    this.begin(objects);
    for (const sink of Object.values(this.#sinks)) sink.listCompleted();
    this.cluster.settle();
  }

  /** Begins to list these objects, without an end of the list. */
  begin(objects: readonly ClusterObject[]): void {
    for (const sink of Object.values(this.#sinks)) sink.listStarted();
    for (const object of objects) this.upsert(object);
    this.cluster.settle();
  }

  upsert(object: ClusterObject): void {
    const { services, endpoints, namespaces, pods } = this.#sinks;
    if (object.kind === 'Service') services.upsert(object);
    else if (object.kind === 'Endpoints') endpoints.upsert(object);
    else if (object.kind === 'Namespace') namespaces.upsert(object);
    else pods.upsert(object);
  }

  get #sinks() {
    const { services, endpoints, namespaces, pods, tenants } = this.cluster;
    return {
      services: joinSinks(services, tenants?.services),
      endpoints,
      namespaces: joinSinks(namespaces, tenants?.namespaces),
      pods: joinSinks(pods, tenants?.pods),
    };
  }

  /** @param client its address */
  async askChain(question: Question, client = CLIENT.address): Promise<Message> {
    const sender = { ...CLIENT, address: client };
    const query = queryFor(question);
    const asked = { ...query, question };
    const answer = await this.#chain(new Query(question, asked, sender));
    if (answer.kind === 'drop') throw new Error(`no response: ${question.name} ${question.type}`);
    return decodeMessage(encodeAnswer(asked, asked, answer, sender, this.#form));
  }

  /**
   * The answer of the table; undefined if it leaves the question to the chain.
   *
   * @param client its address
   */
  askTable(
    question: Question,
    client = CLIENT.address,
    transport: ClientTransport = 'tcp',
  ): Message | undefined {
    const query = encodeMessage(queryFor(question));
    packet.set(query);
    packet.set(encodeSocketAddress({ address: client, port: CLIENT.port }), MAX_OCTETS);
    const length = this.#reader.answer(packet, 0, query.length, MAX_OCTETS, transport, 0, MAX_OCTETS);
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
