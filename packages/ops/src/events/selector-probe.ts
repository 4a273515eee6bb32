/**
 * Services whose selector matches no pod. The server keeps neither selectors nor pods, so it looks at few services that have had no endpoint
 * for a minute, and reads what it lacks.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { RestClient } from '@portolan/kubernetes/api/rest/rest-client.ts';
import { asRecord, asRecords } from '@portolan/kubernetes/objects/trim/fields.ts';
import type {
  ClusterEvidence,
  EndpointsByState,
  ServiceName,
} from '@portolan/server/reasons/cluster-evidence.ts';
import { describeReason, listRemedies } from '@portolan/server/reasons/describe-reason.ts';
import type { Finding } from '@portolan/server/reasons/finding.ts';

export interface SelectorProbeDependencies {
  /** What the server keeps of its clusters now. */
  readonly clusters: () => readonly ClusterEvidence[];
  readonly rest: Pick<RestClient, 'get'>;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** Services in one look, and those of them that are read. */
const MAX_LOOKED_AT = 100;
const MAX_READ = 5;
/** Services without endpoints that are remembered. */
const MAX_EMPTY = 1_000;
/** Milliseconds without endpoints before a service is read, and until it is read again. */
const PATIENCE = 60_000;
const HOUR = 3_600_000;

interface EmptyService extends ServiceName {
  readonly since: number;
  /** When it was read last. */
  readAt: number;
  finding: Finding | undefined;
}

export class SelectorProbe {
  readonly #dependencies: SelectorProbeDependencies;
  readonly #empty = new Map<string, EmptyService>();
  /** Services that are still to be looked at in this round. */
  #left: (readonly [ClusterEvidence, ServiceName])[] = [];
  #isReading = false;

  constructor(dependencies: SelectorProbeDependencies) {
    this.#dependencies = dependencies;
  }

  get findings(): readonly Finding[] {
    return Array.from(this.#empty.values(), ({ finding }) => finding).filter((each) => each !== undefined);
  }

  /** Looks at a part of the services, and begins to read some. Never rejects. */
  look(): Promise<void> {
    if (this.#left.length === 0) this.#left = this.#listServices();
    for (const [evidence, service] of this.#left.splice(0, MAX_LOOKED_AT)) this.#note(evidence, service);
    return this.#isReading ? Promise.resolve() : this.#readSome();
  }

  #listServices(): (readonly [ClusterEvidence, ServiceName])[] {
    const { clusters } = this.#dependencies;
    const all = clusters().flatMap((evidence) =>
      Array.from(evidence.services(), (service) => [evidence, service] as const),
    );
    const keys = new Set(all.map(([, service]) => toServiceKey(service)));
    for (const key of this.#empty.keys()) if (!keys.has(key)) this.#empty.delete(key);
    return all;
  }

  #note(evidence: ClusterEvidence, service: ServiceName): void {
    const key = toServiceKey(service);
    const found = evidence.findService(service.namespace, service.name);
    if (found === undefined || found.address.kind === 'externalName' || hasEndpoints(found.endpoints))
      this.#empty.delete(key);
    else if (!this.#empty.has(key) && this.#empty.size < MAX_EMPTY)
      this.#empty.set(key, {
        ...service,
        since: this.#dependencies.clock.monotonic(),
        readAt: Number.NEGATIVE_INFINITY,
        finding: undefined,
      });
  }

  async #readSome(): Promise<void> {
    const now = this.#dependencies.clock.monotonic();
    const due = [...this.#empty.values()].filter(
      ({ since, readAt }) => now - since >= PATIENCE && now - readAt >= HOUR,
    );
    this.#isReading = true;
    for (const service of due.slice(0, MAX_READ)) {
      service.readAt = now;
      service.finding = await this.#read(service).catch(() => undefined);
    }
    this.#isReading = false;
  }

  /** Undefined also without the right to list pods. @throws RestError */
  async #read({ namespace, name }: ServiceName): Promise<Finding | undefined> {
    const { rest } = this.#dependencies;
    const folder = `/api/v1/namespaces/${encodeURIComponent(namespace)}`;
    // The server may list services; few roles let it get one.
    const only = new URLSearchParams({ fieldSelector: `metadata.name=${name}` });
    const [service] = asRecords((await rest.get(`${folder}/services?${only}`))['items']);
    const selector = asRecord(asRecord(service?.['spec'])?.['selector']);
    const labels = Object.entries(selector ?? {}).map(([label, value]) => `${label}=${String(value)}`);
    if (labels.length === 0) return undefined;
    const pods = new URLSearchParams({ labelSelector: labels.join(','), limit: '1' });
    const found = await rest.get(`${folder}/pods?${pods}`);
    if (asRecords(found['items']).length > 0) return undefined;
    const kind = 'selector-matches-nothing';
    const reason = { kind, namespace, service: name, selector: labels.join(',') } as const;
    return {
      kind,
      severity: 'risk',
      subject: `${namespace}/${name}`,
      sentence: describeReason(reason),
      remedies: listRemedies(reason),
    };
  }
}

const toServiceKey = ({ namespace, name }: ServiceName): string => `${namespace}/${name}`;

/** Of any state: a pod with an address has one. */
function hasEndpoints({ ready, notReady = [], terminating = [] }: EndpointsByState): boolean {
  return ready.length + notReady.length + terminating.length > 0;
}
