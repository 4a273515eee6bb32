/**
 * The cluster's names as one client sees them: headless services have the endpoints that it prefers, by the rules of
 * `EndpointPreference`, which readers use too.
 */
import { labelsBelow } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import type { PlaceWords } from '@portolan/kernel/records/client-places.ts';
import { EndpointPreference } from '@portolan/kernel/records/endpoint-preference.ts';
import { SERVICE_KIND } from '@portolan/kernel/records/layout.ts';
import { SectionWalk } from '@portolan/kernel/records/record-finder.ts';
import type { RecordWriter } from '@portolan/kernel/records/record-writer.ts';
import { ServiceFields } from '@portolan/kernel/records/service-fields.ts';
import { readEndpointAddress, readyIn } from '@portolan/kernel/records/slice-addresses.ts';
import type { NameSource, ZoneNode } from '@portolan/kernel/zone/node.ts';
import type { ServiceView } from '../dialects/dialect.ts';
import { formatValue, RecordViews } from '../records/record-views.ts';
import type { ClusterModel } from './model.ts';
import type { KubernetesNames } from './names.ts';

/** Where the client is; undefined: not known. Called only if the answer depends on it. */
export type FindPlace = () => PlaceWords | undefined;

/** The labels of a port. Any of them may lack its underscore. */
interface PortLabels {
  readonly name: string;
  readonly protocol: string;
}

export class ClientNames {
  readonly #model: ClusterModel;
  readonly #names: KubernetesNames;
  readonly #writer: RecordWriter;
  readonly #records: RecordViews;
  readonly #walk: SectionWalk;
  readonly #preference: EndpointPreference;
  readonly #fields: ServiceFields;

  constructor(model: ClusterModel, names: KubernetesNames, writer: RecordWriter) {
    const { views } = writer.space;
    this.#model = model;
    this.#names = names;
    this.#writer = writer;
    this.#records = new RecordViews(writer);
    this.#walk = new SectionWalk(views);
    this.#preference = new EndpointPreference(views, this.#walk);
    this.#fields = new ServiceFields(views);
  }

  /** @param names those that the client sees. Default: all */
  for(findPlace: FindPlace, names = this.#names): NameSource {
    const findPreferred = (name: NameKey) => this.#findPreferred(name, findPlace);
    if (names === this.#names) return { find: (name) => findPreferred(name) ?? names.find(name) };
    return {
      find(name) {
        const found = names.find(name);
        return found && (findPreferred(name) ?? found);
      },
    };
  }

  #findPreferred(name: NameKey, findPlace: FindPlace): ZoneNode | undefined {
    const [service = '', namespace = ''] = this.#names.serviceIn(name) ?? [];
    const entry = service === '' ? 0 : this.#model.findServiceEntry(namespace, service);
    if (entry === 0 || !this.#mayPrefer(entry)) return undefined;
    const view = this.#model.service(namespace, service)?.view;
    const port = view && portIn(name, view.name);
    if (view === undefined || port === undefined) return undefined;
    const place = findPlace();
    const addresses = place && this.#addressesAt(entry, place, port === 'all' ? undefined : port);
    return addresses && this.#derive(view, name, addresses);
  }

  /** Whether a service is headless, and its answers may depend on the client. */
  #mayPrefer(entry: number): boolean {
    this.#fields.load(entry);
    return this.#fields.kind === SERVICE_KIND.HEADLESS && this.#preference.mayDecide(this.#fields);
  }

  /** The addresses of the endpoints that a client there prefers; undefined: all. */
  #addressesAt(
    entry: number,
    { zone, node }: PlaceWords,
    port: PortLabels | undefined,
  ): ReadonlySet<string> | undefined {
    const preference = this.#preference;
    const fields = this.#fields;
    fields.load(entry);
    preference.zone = zone;
    preference.node = node;
    const filter = { includes: (section: number) => port === undefined || this.#hasPort(section, port) };
    if (!preference.decide(fields, filter)) return undefined;
    const { views } = this.#writer.space;
    const addresses = new Set<string>();
    for (this.#walk.begin(entry); this.#walk.next(); ) {
      const { section } = this.#walk;
      // Endpoints without the port may share a hostname with those that have it: readers tell their addresses too.
      for (let endpoint = 0, ready = readyIn(views, section); endpoint < ready; endpoint += 1)
        if (preference.includes(section, endpoint))
          addresses.add(formatValue(readEndpointAddress(views, section, endpoint)));
    }
    return addresses;
  }

  #hasPort(section: number, { name, protocol }: PortLabels): boolean {
    return this.#records
      .portsIn(section)
      .some((port) => port.name === name && port.protocol.toLowerCase() === protocol);
  }

  #derive(view: ServiceView, name: NameKey, addresses: ReadonlySet<string>): ZoneNode | undefined {
    const endpoints = view.endpoints.filter(({ address }) => addresses.has(address));
    const preferred = { ...view, endpoints };
    const { dialect } = this.#model.options;
    const nodes = new Map(dialect.derive(preferred).nodes.map((node) => [node.name, node]));
    const findNode = (key: NameKey) => nodes.get(key);
    const below = labelsBelow(name, view.name);
    return findNode(name) ?? dialect.nameBelowService(preferred, name, below, findNode);
  }
}

/** What a name at or below a service asks for; undefined: something else than the service or a port of it. */
function portIn(name: NameKey, service: NameKey): PortLabels | 'all' | undefined {
  const [port, protocol, ...more] = labelsBelow(name, service).map((label) => label.replace(/^_/, ''));
  if (port === undefined) return 'all';
  return protocol === undefined || more.length > 0 ? undefined : { name: port, protocol };
}
