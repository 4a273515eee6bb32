/**
 * The evidence of a cluster, from objects as the API server gives them: read by a client with its own rights, or from manifests.
 *
 * Objects of other kinds are skipped, and so is everything that has an unexpected form: the evidence may be of any version.
 */
import {
  asList,
  asRecord,
  asText,
  asTexts,
  type JsonRecord,
  toTextMap,
} from '@portolan/kubernetes/objects/trim/fields.ts';
import type {
  ClusterEvidence,
  EndpointEvidence,
  EndpointsByState,
  ServiceEvidence,
  ServiceName,
} from '@portolan/server/reasons/cluster-evidence.ts';

interface RawPod {
  readonly namespace: string;
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
}

const SERVICE_NAME = 'kubernetes.io/service-name';

export class RawEvidence implements ClusterEvidence {
  readonly #services = new Map<string, JsonRecord>();
  readonly #slices = new Map<string, JsonRecord[]>();
  readonly #namespaces = new Set<string>();
  readonly #pods: RawPod[] = [];
  /** Lists of several namespaces may repeat objects. */
  readonly #seen = new Set<string>();
  #hasSlices = false;
  #hasPods = false;

  /** @param objects objects and lists of objects, such as `kubectl get -o json` prints */
  constructor(objects: readonly unknown[]) {
    for (const object of flattenObjects(objects)) this.#take(object);
  }

  /** Whether it has pods: if not, selectors cannot be judged. */
  get hasPods(): boolean {
    return this.#hasPods;
  }

  hasNamespace(namespace: string): boolean {
    return this.#namespaces.has(namespace);
  }

  findService(namespace: string, name: string): ServiceEvidence | undefined {
    const raw = this.#services.get(`${namespace}/${name}`);
    if (raw === undefined) return undefined;
    const spec = asRecord(raw['spec']) ?? {};
    const labels = asRecord(spec['selector']);
    const selector = labels === undefined || Object.keys(labels).length === 0 ? 'none' : toTextMap(labels);
    return {
      namespace,
      name,
      address: toServiceAddress(spec),
      ports: asList(spec['ports']).flatMap(toPorts),
      selector,
      selectedPods: selector === 'none' || !this.#hasPods ? undefined : this.#countPods(namespace, selector),
      endpoints: this.#listEndpoints(`${namespace}/${name}`),
    };
  }

  *services(): Iterable<ServiceName> {
    for (const key of this.#services.keys()) {
      const [namespace = '', name = ''] = key.split('/');
      yield { namespace, name };
    }
  }

  namespaces(): Iterable<string> {
    return this.#namespaces;
  }

  #take(object: JsonRecord): void {
    const metadata = asRecord(object['metadata']);
    const name = asText(metadata?.['name']);
    if (name === undefined) return;
    const namespace = asText(metadata?.['namespace']) ?? 'default';
    const identity = `${asText(object['kind']) ?? ''} ${namespace}/${name}`;
    if (this.#seen.has(identity)) return;
    this.#seen.add(identity);
    switch (object['kind']) {
      case 'Namespace':
        this.#namespaces.add(name);
        return;
      case 'Service':
        this.#namespaces.add(namespace);
        this.#services.set(`${namespace}/${name}`, object);
        return;
      case 'Pod':
        this.#hasPods = true;
        this.#pods.push({ namespace, name, labels: toTextMap(metadata?.['labels']) });
        return;
      case 'EndpointSlice': {
        this.#hasSlices = true;
        const service = asText(asRecord(metadata?.['labels'])?.[SERVICE_NAME]);
        if (service === undefined) return;
        const key = `${namespace}/${service}`;
        this.#slices.set(key, [...(this.#slices.get(key) ?? []), object]);
        return;
      }
      case 'Endpoints':
        this.#hasSlices = true;
        this.#slices.set(`${namespace}/${name}`, [
          ...(this.#slices.get(`${namespace}/${name}`) ?? []),
          object,
        ]);
    }
  }

  #countPods(namespace: string, selector: ReadonlyMap<string, string>): number {
    const isSelected = ({ labels }: RawPod) =>
      [...selector].every(([key, value]) => labels.get(key) === value);
    return this.#pods.filter((pod) => pod.namespace === namespace && isSelected(pod)).length;
  }

  #listEndpoints(key: string): EndpointsByState {
    const states = { ready: [], notReady: [], terminating: [] } as Record<
      keyof EndpointsByState,
      EndpointEvidence[]
    >;
    for (const object of this.#slices.get(key) ?? []) {
      for (const endpoint of asList(object['endpoints'])) addEndpoint(asRecord(endpoint) ?? {}, states);
      for (const subset of asList(object['subsets'])) addSubset(asRecord(subset) ?? {}, states);
    }
    return this.#hasSlices ? states : { ready: [], notReady: undefined, terminating: undefined };
  }
}

/** The evidence of two sources: of services that both have, the second one adds what the first did not look at. */
export function joinEvidence(first: ClusterEvidence, second: ClusterEvidence): ClusterEvidence {
  return {
    hasNamespace: (namespace) => first.hasNamespace(namespace) || second.hasNamespace(namespace),
    findService(namespace, name) {
      const own = first.findService(namespace, name);
      const further = second.findService(namespace, name);
      if (own === undefined || further === undefined) return own;
      return {
        ...own,
        selector: own.selector ?? further.selector,
        selectedPods: own.selectedPods ?? further.selectedPods,
        endpoints: {
          ready: own.endpoints.ready,
          notReady: joinEndpoints(own.endpoints.notReady, further.endpoints.notReady),
          terminating: joinEndpoints(own.endpoints.terminating, further.endpoints.terminating),
        },
      };
    },
    services: () => first.services(),
    namespaces: () => first.namespaces(),
    goneSince: (namespace, name) => first.goneSince?.(namespace, name),
  };
}

/** The endpoints of the first source that has any, with the pods that the second one knows. */
function joinEndpoints(
  own: readonly EndpointEvidence[] | undefined,
  further: readonly EndpointEvidence[] | undefined,
): readonly EndpointEvidence[] | undefined {
  if (own === undefined || further === undefined || own.length === 0) return further ?? own;
  return own.map((endpoint) => further.find(({ address }) => address === endpoint.address) ?? endpoint);
}

export function* flattenObjects(objects: readonly unknown[]): Iterable<JsonRecord> {
  for (const value of objects) {
    const object = asRecord(value);
    if (object === undefined) continue;
    if (Array.isArray(object['items'])) yield* flattenObjects(withKinds(object));
    else yield object;
  }
}

/** The items of a typed list have no kind of their own. */
function withKinds(list: JsonRecord): readonly unknown[] {
  const kind = asText(list['kind'])?.replace(/List$/, '');
  return asList(list['items']).map((item) => ({ kind, ...asRecord(item) }));
}

function toServiceAddress(spec: JsonRecord): ServiceEvidence['address'] {
  if (spec['type'] === 'ExternalName')
    return { kind: 'externalName', name: asText(spec['externalName']) ?? '' };
  const several = asTexts(spec['clusterIPs']);
  const addresses = several.length > 0 ? several : [asText(spec['clusterIP']) ?? ''];
  if (addresses.includes('None')) return { kind: 'headless' };
  return { kind: 'clusterIPs', addresses: addresses.filter((address) => address !== '') };
}

function toPorts(value: unknown): ServiceEvidence['ports'] {
  const port = asRecord(value);
  const number = port?.['port'];
  if (typeof number !== 'number') return [];
  const protocol = (asText(port?.['protocol']) ?? 'TCP').toLowerCase();
  return [{ name: asText(port?.['name']) ?? '', protocol, port: number }];
}

function addEndpoint(endpoint: JsonRecord, states: Record<keyof EndpointsByState, EndpointEvidence[]>): void {
  const conditions = asRecord(endpoint['conditions']);
  const pod = asText(asRecord(endpoint['targetRef'])?.['name']);
  const hostname = asText(endpoint['hostname']);
  // Unset means ready, as the API reference says.
  const state =
    conditions?.['ready'] !== false
      ? states.ready
      : conditions['terminating'] === true
        ? states.terminating
        : states.notReady;
  for (const address of asTexts(endpoint['addresses'])) state.push({ address, hostname, pod });
}

/** Of the older kind `Endpoints`. */
function addSubset(subset: JsonRecord, states: Record<keyof EndpointsByState, EndpointEvidence[]>): void {
  const add = (values: unknown, state: EndpointEvidence[]) => {
    for (const value of asList(values)) {
      const endpoint = asRecord(value);
      const address = asText(endpoint?.['ip']);
      if (address === undefined) continue;
      const pod = asText(asRecord(endpoint?.['targetRef'])?.['name']);
      state.push({ address, hostname: asText(endpoint?.['hostname']), pod });
    }
  };
  add(subset['addresses'], states.ready);
  add(subset['notReadyAddresses'], states.notReady);
}
