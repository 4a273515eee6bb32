/**
 * The layout of a cluster's records in the table's memory: offsets in octets. Writer and composers share only these.
 *
 * Six kinds of entry are in the table's index (see `record-space.ts`). An entry stays where it is while it exists; the
 * records that it refers to are immutable, and replaced by one store. References are octets of the table, 0 for none.
 *
 *     a service (key: its label, then its namespace's, in wire form)
 *
 *     8   flags, `SERVICE_FLAG`
 *     16  its record: absent while only its endpoints are known
 *     20  the list of its slices
 *     24  ready endpoints
 *     28  its namespace
 *     32  the next and the previous service of the namespace
 *     40  a number that no other state of a service has
 *     44  the number of the list that held it last; below -1: it is stale (`stale-entries.ts`)
 *     48  the index of its endpoints, if they are many
 *     52  the key
 *
 *     a namespace (key: its label in wire form)
 *
 *     8   flags, `NAMESPACE_FLAG`
 *     16  services that have names
 *     20  services of type ExternalName that have names
 *     24  its first service
 *     28  the next and the previous namespace
 *     36  the number of the list that held it last
 *     40  the key
 *
 *     a slice: an EndpointSlice or an Endpoints object (key: its namespace's label, then its name as text)
 *
 *     8   the number of the list that held it last
 *     16  its record
 *     20  the entry of its service
 *     24  its slot in the list of the service's slices
 *     28  the next and the previous slice
 *     36  octets of the key, which may be more than 255
 *     40  the key
 *
 *     an address (key: 4 or 16 octets)
 *
 *     8   the slot of the slice that holds it, as a hint; -1: it is a service's own
 *     16  the entry of the service that it belongs to; or, negative, a list of several
 *     20  whether it was ever a service's own
 *     24  the key
 *
 *     a pod's address (key: the namespace's label, then the octets of the address)
 *
 *     8   pods that have it
 *     16  the key
 *
 *     a range of clients (key: 4 or 16 octets, zero behind the prefix, then the bits of the prefix)
 *
 *     8   the word of its zone
 *     16  the word of its node
 *     20  the key
 *
 * The record of a service:
 *
 *     0   kind | IPv4 addresses << 8 | IPv6 addresses << 16 | what an external name is << 24, `EXTERNAL_TARGET` |
 *         what its traffic prefers << 28, `DISTRIBUTION` | whether it selects pods << 31
 *     4   octets of the whole block
 *     8   ports
 *     12  octets of the external name as text | octets of its target in wire form << 16
 *     16  IPv4 addresses, a number each; IPv6 addresses, 16 octets each; ports; the external name; its target
 *
 * A port: its number (2 octets, the upper one first), its protocol | its `APP_PROTOCOL`, octets of its name, the name in lower case.
 *
 * A list of slices: its slots, then a record per slot, 0 where none is.
 *
 * The record of a slice:
 *
 *     0   octets of the whole block
 *     4   sections
 *     8   the sections: endpoints of one family that share their ports
 *
 * Behind the sections of a slice of `addressType: FQDN` are the names of its ready endpoints, for the handler chain:
 *
 *     0   names | ports << 16
 *     4   ports; then for each name a label, of no octets if the endpoint has no hostname, and the name in wire form
 *
 * A section:
 *
 *     0   octets of the section
 *     4   ready endpoints | all endpoints << 16; the ready ones come first
 *     8   ports | octets of an address << 16 | whether an endpoint has a hostname << 24 | whether it has places << 25
 *     12  where its ports begin, in octets from its start
 *     16  where the labels of hostnames begin: a word per ready endpoint, with the place of the label, 0 for none
 *     20  where the states of the endpoints that are not ready begin: an octet each, `ENDPOINT_STATE`
 *     24  addresses, as in the record of a service
 *
 * The places of a section's endpoints, where a cluster keeps them. The last word of the section has their place in it:
 *
 *     0   flags, `PLACES_FLAG`
 *     4   a bit for each zone that they may have, then for each node: the lower five bits of a word are its number
 *     12  per ready endpoint: the word of its zone and of its node; 0: it has none; negative: minus the place of a list
 *     ..  lists: their words, then these
 *
 * The word of a zone or a node is a hash of its name, above 0. So records mean the same in each process.
 *
 * A list of an address's services: how many, its capacity, then the entries; those that select pods come first.
 *
 * The index of a service's endpoints: where the label and the address of each one are. It is a hash with linear probing,
 * and has a cell for each slice that has endpoints of a hash:
 *
 *     0   the binary logarithm of its cells
 *     4   cells that are not empty
 *     8   how often addresses, then hostnames, occur more than once
 *     16  labels that are made from IPv6 addresses
 *     24  the cells: the hash, of `INDEXED`; a place, 0: empty, -1: emptied
 *
 * A place is one more than the number of the endpoint in its slice, 0 if there are several or the number is large | one more
 * than the slot of the slice << 10. The number is a hint.
 *
 * A zone of a cluster:
 *
 *     0   flags, `ZONE_OF_CLUSTER`
 *     4   octets of the whole block
 *     8   TTL in seconds
 *     12  octets of the domain | its labels << 16
 *     16  the zone of the domain
 *     20  reverse zones
 *     24  the first of the outcomes of its names, `NAME_OUTCOME`
 *     28  where its clients are, 0 if that is not known
 *     32  the label `svc` and the domain, padded; per reverse zone: the zone | labels << 16, octets, the name, padded
 *
 * Where clients are:
 *
 *     0   octets of the whole block
 *     4   the word of the zone and of the node of all clients; 0: their addresses tell
 *     12  lengths of prefixes of IPv4, then of IPv6, that ranges of clients have
 *     20  these lengths, an octet each, the longest of a family first
 */
export const RECORD_KIND = { SERVICE: 3, NAMESPACE: 4, SLICE: 5, ADDRESS: 6, POD: 7, RANGE: 8 } as const;

export const SERVICE = {
  FLAGS: 8,
  RECORD: 16,
  SLICES: 20,
  READY: 24,
  NAMESPACE: 28,
  NEXT: 32,
  PREVIOUS: 36,
  VERSION: 40,
  LIST: 44,
  INDEX: 48,
  KEY: 52,
} as const;
/**
 * LIVE: it counts among the services of its namespace that have names. OVERLAPS: an address occurs more than once among
 * its ready endpoints. SHARES: so does a hostname. EXTERNAL: it counts among the external names of its namespace. SELECTS:
 * its endpoints are the pods that it selects. TARGETS: it has ready endpoints that are names. STALE, STALE_ENDPOINTS: its
 * source has lost it, or its endpoints, and answers say so.
 */
export const SERVICE_FLAG = {
  LIVE: 1,
  OVERLAPS: 2,
  SHARES: 4,
  EXTERNAL: 8,
  SELECTS: 16,
  TARGETS: 32,
  STALE: 64,
  STALE_ENDPOINTS: 128,
} as const;

export const NAMESPACE = {
  FLAGS: 8,
  LIVE: 16,
  EXTERNALS: 20,
  FIRST: 24,
  NEXT: 28,
  PREVIOUS: 32,
  LIST: 36,
  KEY: 40,
} as const;
export const NAMESPACE_FLAG = { HAS_OBJECT: 1 } as const;

export const SLICE = {
  LIST: 8,
  RECORD: 16,
  SERVICE: 20,
  SLOT: 24,
  NEXT: 28,
  PREVIOUS: 32,
  KEY_OCTETS: 36,
  KEY: 40,
} as const;

export const ADDRESS = { SLOT: 8, OWNER: 16, OWN: 20, KEY: 24 } as const;
/** Instead of a slot: the address is a service's own. */
export const NO_SLOT = -1;
/** What the index of a service's endpoints leads from: kinds of key for the hash, which differ from those of entries. */
export const INDEXED = { LABEL: 32, ADDRESS: 33 } as const;
export const ENDPOINT_INDEX = { SHIFT: 0, USED: 4, OVERLAPS: 8, SHARES: 12, MADE: 16, CELLS: 24 } as const;
export const CELL = { HASH: 0, PLACE: 4, OCTETS: 8 } as const;
export const EMPTIED = -1;
export const SLOT_SHIFT = 10;
/** Numbers of endpoints, and slots, that a place has room for. */
export const MAX_HINTS = 2 ** SLOT_SHIFT - 1;
export const MAX_SLOTS = 2 ** (31 - SLOT_SHIFT) - 1;
export const OWNERS = { COUNT: 0, CAPACITY: 4, ENTRIES: 8 } as const;

export const POD = { COUNT: 8, KEY: 16 } as const;

export const RANGE = { ZONE: 8, NODE: 16, KEY: 20 } as const;
export const CLIENT_PLACES = { SIZE: 0, ZONE: 4, NODE: 8, IPV4: 12, IPV6: 16, LENGTHS: 20 } as const;

export const SERVICE_RECORD = { HEAD: 0, SIZE: 4, PORTS: 8, EXTERNAL: 12, ADDRESSES: 16 } as const;
export const SERVICE_KIND = { CLUSTER: 1, HEADLESS: 2, EXTERNAL: 3 } as const;
export const EXTERNAL_TARGET = { UNUSABLE: 0, NAME: 1, ADDRESS: 2 } as const;
export const EXTERNAL_TARGET_MASK = 0x0f;
/** What `trafficDistribution` of a service prefers. A node also means its zone. */
export const DISTRIBUTION = { NONE: 0, ZONE: 1, NODE: 2 } as const;
export const DISTRIBUTION_SHIFT = 28;
export const DISTRIBUTION_MASK = 0x07;
/** In the first word of a service's record: the service selects pods. */
export const SELECTS_PODS = 1 << 31;

export const PORT = { NUMBER: 0, PROTOCOL: 2, LENGTH: 3, NAME: 4 } as const;
export const PROTOCOLS = ['TCP', 'UDP', 'SCTP'] as const;
export const PROTOCOL_MASK = 0x0f;
/**
 * The application protocol of a port of a service, where a cluster has HTTPS records. HTTPS: HTTP over TLS. PLAIN: HTTP without TLS.
 * H2, H3: with HTTPS, these versions of HTTP too.
 */
export const APP_PROTOCOL = { HTTPS: 16, PLAIN: 32, H2: 64, H3: 128 } as const;

export const SLICE_LIST = { SLOTS: 0, RECORDS: 4 } as const;
export const SLICE_RECORD = { SIZE: 0, SECTIONS: 4, FIRST: 8 } as const;
/** The names behind the sections of a slice. */
export const SLICE_TARGETS = { COUNTS: 0, PORTS: 4 } as const;
export const SECTION = {
  SIZE: 0,
  COUNTS: 4,
  SHAPE: 8,
  PORTS: 12,
  LABELS: 16,
  STATES: 20,
  ADDRESSES: 24,
} as const;
export const SECTION_HAS_HOSTNAMES = 1 << 24;
export const SECTION_HAS_PLACES = 1 << 25;
export const PLACES = { FLAGS: 0, ZONES: 4, NODES: 8, WORDS: 12 } as const;
/**
 * HINTED: all ready endpoints have hints. KNOWN: they have hints, or a zone or node of their own, which is then in place of
 * the hints.
 */
export const PLACES_FLAG = { ZONES_HINTED: 1, ZONES_KNOWN: 2, NODES_HINTED: 4, NODES_KNOWN: 8 } as const;
/** What the conditions of an endpoint that is not ready say. */
export const ENDPOINT_STATE = { NOT_READY: 1, SERVING: 2, TERMINATING: 4 } as const;

export const CLUSTER = {
  FLAGS: 0,
  SIZE: 4,
  TTL: 8,
  DOMAIN_SHAPE: 12,
  ZONE: 16,
  REVERSE_ZONES: 20,
  OUTCOMES: 24,
  PLACES: 28,
  NAMES: 32,
} as const;
/** The outcomes of a cluster's names, from the first of them on. */
export const NAME_OUTCOME = {
  zone: 0,
  namespace: 1,
  clusterIP: 2,
  headless: 3,
  endpoint: 4,
  externalName: 5,
  pod: 6,
  reverse: 7,
} as const;
/** Flags of a cluster's zone. The rest of the word has the types of records that are left out. */
export const CLUSTER_FLAG = {
  KUBE_DNS: 1,
  ENDPOINTS_KNOWN: 2,
  IGNORES_EMPTY: 4,
  USES_NAMESPACES: 8,
  PODS: 16,
  PODS_VERIFIED: 32,
  WITHOUT_A: 64,
  WITHOUT_AAAA: 128,
  WITHOUT_SRV: 256,
  WITHOUT_PTR: 512,
  WITHOUT_CNAME: 1024,
  SELECTS_BY_ZONE: 2048,
  CLUSTER_LABELS: 4096,
  HTTPS_RECORDS: 8192,
} as const;
