/**
 * Encodes Kubernetes objects in Protocol Buffers as an API server does, for tests of the readers.
 *
 * It has its own copy of the field numbers, including fields that have no reader.
 */
type Json = { readonly [key: string]: unknown };

interface FieldShape {
  readonly name: string;
  readonly kind: 's' | 'i' | 'b' | 'm';
  readonly many: '' | '*' | '@' | '%';
  readonly message: string | undefined;
  /** Written only when it is set; all others are always written. */
  readonly isOptional: boolean;
}

/** `name=number type`: s text, i number, b flag, else a message; `*` a list, `@` a map of texts, `%` of quantities, `?` optional. */
const MESSAGES: Readonly<Record<string, string>> = {
  ListMeta: 'selfLink=1 s, resourceVersion=2 s, continue=3 s, remainingItemCount=4 i?',
  Status: 'metadata=1 ListMeta, status=2 s, message=3 s, reason=4 s, details=5 StatusDetails?, code=6 i',
  StatusDetails: 'name=1 s, group=2 s, kind=3 s, causes=4 *StatusCause, retryAfterSeconds=5 i, uid=6 s',
  StatusCause: 'reason=1 s, message=2 s, field=3 s',
  ObjectMeta:
    'name=1 s, generateName=2 s, namespace=3 s, selfLink=4 s, uid=5 s, resourceVersion=6 s, generation=7 i, ' +
    'creationTimestamp=8 Time, labels=11 @s, annotations=12 @s, managedFields=17 *ManagedFields',
  Time: 'seconds=1 i, nanos=2 i',
  ManagedFields: 'manager=1 s, operation=2 s',
  Service: 'metadata=1 ObjectMeta, spec=2 ServiceSpec, status=3 ServiceStatus',
  ServiceStatus: 'loadBalancer=1 LoadBalancerStatus',
  LoadBalancerStatus: 'ingress=1 *LoadBalancerIngress',
  LoadBalancerIngress: 'ip=1 s, hostname=2 s, ipMode=3 s?',
  Nothing: '',
  ServiceSpec:
    'ports=1 *ServicePort, selector=2 @s, clusterIP=3 s, type=4 s, externalIPs=5 *s, sessionAffinity=7 s, ' +
    'externalName=10 s, publishNotReadyAddresses=13 b, ipFamilyPolicy=17 s?, clusterIPs=18 *s, ipFamilies=19 *s, ' +
    'trafficDistribution=23 s?',
  ServicePort: 'name=1 s, protocol=2 s, port=3 i, nodePort=5 i, appProtocol=6 s?',
  EndpointSlice: 'metadata=1 ObjectMeta, endpoints=2 *Endpoint, ports=3 *SlicePort, addressType=4 s',
  Endpoint:
    'addresses=1 *s, conditions=2 EndpointConditions, hostname=3 s?, targetRef=4 Nothing?, nodeName=6 s?, zone=7 s?, ' +
    'hints=8 EndpointHints?',
  EndpointHints: 'forZones=1 *Named, forNodes=2 *Named',
  Named: 'name=1 s',
  EndpointConditions: 'ready=1 b?, serving=2 b?, terminating=3 b?',
  SlicePort: 'name=1 s?, protocol=2 s?, port=3 i?, appProtocol=4 s?',
  Endpoints: 'metadata=1 ObjectMeta, subsets=2 *EndpointSubset',
  EndpointSubset: 'addresses=1 *EndpointAddress, notReadyAddresses=2 *EndpointAddress, ports=3 *EndpointPort',
  EndpointAddress: 'ip=1 s, targetRef=2 Nothing?, hostname=3 s, nodeName=4 s?',
  EndpointPort: 'name=1 s, port=2 i, protocol=3 s, appProtocol=4 s?',
  Namespace: 'metadata=1 ObjectMeta, spec=2 Nothing, status=3 Nothing',
  Node: 'metadata=1 ObjectMeta, spec=2 NodeSpec, status=3 NodeStatus',
  NodeSpec: 'podCIDR=1 s, providerID=3 s, unschedulable=4 b, taints=5 *Nothing, podCIDRs=7 *s',
  NodeStatus:
    'capacity=1 %s, allocatable=2 %s, phase=3 s, conditions=4 *NodeCondition, addresses=5 *NodeAddress, images=8 *Nothing',
  NodeAddress: 'type=1 s, address=2 s',
  NodeCondition: 'type=1 s, status=2 s, reason=5 s, message=6 s',
  Pod: 'metadata=1 ObjectMeta, spec=2 PodSpec, status=3 PodStatus',
  PodSpec:
    'restartPolicy=3 s, dnsPolicy=6 s, nodeSelector=7 @s, nodeName=10 s, hostNetwork=11 b, dnsConfig=26 PodDNSConfig?, os=36 PodOS?',
  PodDNSConfig: 'nameservers=1 *s, searches=2 *s',
  PodOS: 'name=1 s',
  PodStatus: 'phase=1 s, message=3 s, reason=4 s, hostIP=5 s, podIP=6 s, qosClass=9 s, podIPs=12 *PodIP',
  PodIP: 'ip=1 s',
  ConfigMap: 'metadata=1 ObjectMeta, data=2 @s, immutable=4 b?',
};

const SHAPES = new Map(Object.entries(MESSAGES).map(([name, text]) => [name, readShape(text)]));

function readShape(text: string): ReadonlyMap<number, FieldShape> {
  const matches = text.matchAll(/(\w+)=(\d+) ([*@%]?)(\w+)(\??)/g);
  return new Map(
    Array.from(matches, ([, name = '', number, many = '', type = '', optional]): [number, FieldShape] => {
      const isScalar = type === 's' || type === 'i' || type === 'b';
      const shape: FieldShape = {
        name,
        kind: isScalar ? type : 'm',
        many: many === '*' || many === '@' || many === '%' ? many : '',
        message: isScalar ? undefined : type,
        isOptional: optional === '?',
      };
      return [Number(number), shape];
    }),
  );
}

/** A body: an object, or a list with `items`. The default `apiVersion` is `v1`: Go clients look up the type by it. */
export function encodeBody(kind: string, object: Json): Buffer {
  const { apiVersion = 'v1' } = object;
  const message = kind.endsWith('List') ? encodeList(kind, object) : encodeMessage(kind, object);
  return wrap({ apiVersion: String(apiVersion), kind }, message);
}

/** A frame of a watch, its length included. */
export function encodeFrame(type: string, kind: string, object: Json): Buffer {
  const event = Buffer.concat([
    delimited(1, Buffer.from(type)),
    delimited(2, delimited(1, encodeBody(kind, object))),
  ]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(event.length);
  return Buffer.concat([length, event]);
}

function wrap(type: { readonly apiVersion: string; readonly kind: string }, object: Buffer): Buffer {
  const typeMeta = Buffer.concat([
    delimited(1, Buffer.from(type.apiVersion)),
    delimited(2, Buffer.from(type.kind)),
  ]);
  const fields = [delimited(1, typeMeta), delimited(2, object), delimited(3, NOTHING), delimited(4, NOTHING)];
  return Buffer.concat([Buffer.from('k8s\0'), ...fields]);
}

const NOTHING = Buffer.alloc(0);

function encodeList(kind: string, { metadata, items }: Json): Buffer {
  const list = Array.isArray(items) ? (items as readonly Json[]) : [];
  const ofItems = kind.replace(/List$/, '');
  return Buffer.concat([
    delimited(1, encodeMessage('ListMeta', (metadata ?? {}) as Json)),
    ...list.map((item) => delimited(2, encodeMessage(ofItems, item))),
  ]);
}

function encodeMessage(message: string, object: Json): Buffer {
  const shape = SHAPES.get(message);
  if (shape === undefined) throw new Error(`no such message: ${message}`);
  const fields = [...shape].flatMap(([number, field]) => encodeField(number, field, object[field.name]));
  return Buffer.concat(fields);
}

function encodeField(number: number, field: FieldShape, value: unknown): readonly Buffer[] {
  if (field.many === '*') {
    const items = Array.isArray(value) ? value : [];
    return items.map((item: unknown) => delimited(number, encodeScalar(field, item)));
  }
  if (field.many === '@' || field.many === '%') {
    return Object.entries((value ?? {}) as Json).map(([key, text]) =>
      delimited(
        number,
        Buffer.concat([delimited(1, Buffer.from(key)), delimited(2, encodeValue(field.many, String(text)))]),
      ),
    );
  }
  if (value === undefined && field.isOptional) return [];
  if (field.kind === 'i' || field.kind === 'b')
    return [Buffer.concat([varint(number * 8), varint(Number(value ?? 0))])];
  return [delimited(number, encodeScalar(field, value))];
}

/** Of a map. */
function encodeValue(many: FieldShape['many'], text: string): Buffer {
  const octets = Buffer.from(text);
  return many === '%' ? delimited(1, octets) : octets;
}

function encodeScalar({ message }: FieldShape, value: unknown): Buffer {
  if (message !== undefined) return encodeMessage(message, (value ?? {}) as Json);
  return Buffer.from(typeof value === 'string' ? value : '');
}

function delimited(number: number, octets: Buffer): Buffer {
  return Buffer.concat([varint(number * 8 + 2), varint(octets.length), octets]);
}

/** Two's complement of 64 bits for a negative number. */
function varint(value: number): Buffer {
  const octets: number[] = [];
  let left = BigInt.asUintN(64, BigInt(value));
  for (; left >= 128n; left /= 128n) octets.push(Number(left % 128n) + 128);
  octets.push(Number(left));
  return Buffer.from(octets);
}
