import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManifestError, parseManifest } from './parse-manifest.ts';

const readObjects = (text: string) => parseManifest('f.yaml', text).objects.map(({ object }) => object);
const listLines = (text: string) => parseManifest('f.yaml', text).objects.map(({ line }) => line);

function catchManifestError(text: string): ManifestError {
  try {
    parseManifest('f.yaml', text);
  } catch (error) {
    if (error instanceof ManifestError) return error;
    throw error;
  }
  throw new Error('parsed without complaint');
}

const SERVICE = `apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop}
spec: {clusterIP: 10.96.0.7, ports: [{name: http, port: 80}]}
`;

describe('a clusterIP that is no address', () => {
  it.each([
    [
      'a line of its own',
      'apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec:\n  clusterIP: 10.96.0.300\n',
      5,
    ],
    [
      'a list',
      'apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec:\n  type: ClusterIP\n  clusterIPs: [x]\n',
      6,
    ],
    [
      'an item of a list',
      'apiVersion: v1\nkind: ServiceList\nitems:\n- metadata: {name: a}\n  spec:\n    clusterIP: 7\n',
      6,
    ],
  ])('makes the file bad, with the line it stands in: %s', (_where, text, line) => {
    expect(catchManifestError(text)).toMatchObject({
      line,
      reason: expect.stringContaining('is not an IP address: '),
    });
  });

  it('has its line in JSON too', () => {
    const item = { metadata: { name: 'a' }, spec: { clusterIP: 'x' } };
    const text = JSON.stringify({ apiVersion: 'v1', kind: 'ServiceList', items: [item] }, undefined, 1);
    const line = text.split('\n').findIndex((each) => each.includes('clusterIP')) + 1;
    expect(() => parseManifest('f.json', text)).toThrow(`f.json:${line}: Service: spec.clusterIP`);
  });

  it.each(['None', '""', 'fd00::7'])('is not %s', (clusterIP) => {
    expect(readObjects(SERVICE.replace('10.96.0.7', clusterIP))).toHaveLength(1);
  });
});

describe('what a file may hold', () => {
  it('is several documents, empty ones among them', () => {
    const text = `# first\n---\n${SERVICE}---\n---\n${SERVICE.replace('cart', 'till')}`;
    expect(readObjects(text)).toMatchObject([
      { kind: 'Service', namespace: 'shop', name: 'cart' },
      { kind: 'Service', namespace: 'shop', name: 'till' },
    ]);
    expect(listLines(text)).toEqual([3, 9]);
  });

  it('is a List, or a list of one kind whose items do not repeat it', () => {
    const item = `{metadata: {name: a, namespace: n}, spec: {clusterIP: None}}`;
    const text = `apiVersion: v1\nkind: ServiceList\nitems:\n- ${item}\n- ${item.replace('name: a', 'name: b')}\n`;
    expect(readObjects(text)).toMatchObject([{ name: 'a' }, { name: 'b' }]);
    expect(listLines(text)).toEqual([4, 5]);
    const list = JSON.stringify({
      apiVersion: 'v1',
      kind: 'List',
      items: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x' } }],
    });
    expect(readObjects(list)).toEqual([{ kind: 'Namespace', name: 'x' }]);
    expect(parseManifest('f.json', list).objects).toMatchObject([{ object: { name: 'x' }, line: 1 }]);
  });

  it('is an EndpointSlice of any version', () => {
    const slice = `apiVersion: discovery.k8s.io/v1beta1
kind: EndpointSlice
metadata: {name: cart-1, namespace: shop, labels: {kubernetes.io/service-name: cart}}
addressType: IPv4
endpoints: [{addresses: [10.244.0.1]}]
ports: [{name: http, port: 8080}]
`;
    expect(readObjects(slice)).toMatchObject([{ kind: 'Endpoints', service: 'cart', name: 'cart-1' }]);
  });

  it('is put into the namespace default where it names none', () => {
    expect(readObjects(SERVICE.replace(', namespace: shop', ''))).toMatchObject([{ namespace: 'default' }]);
  });

  it('may be of kinds that mean nothing to DNS', () => {
    const text = `${SERVICE}---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: cart}\n`;
    expect(parseManifest('f.yaml', text).ignoredKinds).toEqual(['Deployment']);
    expect(readObjects(text)).toHaveLength(1);
  });

  it('uses anchors and merges, as other readers of manifests allow', () => {
    const text = `${SERVICE.replace('spec: {', 'spec: &base {')}---\napiVersion: v1\nkind: List\nitems:
- apiVersion: v1
  kind: Service
  metadata: &meta {namespace: shop, name: one}
  spec: &spec {clusterIP: None}
- apiVersion: v1
  kind: Service
  metadata: {<<: *meta, name: two}
  spec: *spec
`;
    expect(readObjects(text)).toMatchObject([
      { name: 'cart' },
      { name: 'one' },
      { namespace: 'shop', name: 'two' },
    ]);
  });
});

describe('a bad file is named with its line', () => {
  it('if its lists are nested without end', () => {
    const nest = (levels: number) =>
      `${'{"apiVersion":"v1","kind":"List","items":['.repeat(levels)}${']}'.repeat(levels)}`;
    expect(parseManifest('f.json', nest(11)).objects).toEqual([]);
    for (const levels of [12, 20_000])
      expect(() => parseManifest('f.json', nest(levels))).toThrow(
        'f.json:1: more than 10 lists in one another',
      );
    expect(catchManifestError(nest(12)).reason).toBe('more than 10 lists in one another');
    expect(catchManifestError(nest(20_000)).reason).toBe('more than 100 levels of nesting');
  });

  it.each<[string, string, number, RegExp]>([
    ['broken YAML', `${SERVICE}---\na: [1,\nb: 2\n`, 7, /flow/i],
    ['a scalar', `${SERVICE}---\njust words\n`, 6, /not an object/],
    ['no kind', `${SERVICE}---\napiVersion: v1\n`, 6, /kind is missing/],
    [
      '__proto__ as its kind',
      `${SERVICE}---\napiVersion: v1\nkind: __proto__\n`,
      6,
      /not a kind of v1: __proto__/,
    ],
    ['constructor as its kind', 'apiVersion: v1\nkind: constructor\n', 1, /not a kind of v1: constructor/],
    ['a kind in small letters', 'apiVersion: v1\nkind: service\n', 1, /not a kind of v1: service/],
    ['__proto__ of a group', 'apiVersion: apps/v1\nkind: __proto__\n', 1, /not a kind of apps\/v1/],
    ['no name', `\n${SERVICE.replace('name: cart,', '')}`, 2, /Service: it has no metadata.name/],
    [
      'an item without apiVersion',
      'apiVersion: v1\nkind: List\nitems:\n- kind: Pod\n',
      4,
      /apiVersion is missing/,
    ],
    ['an alias bomb', bomb(), 1, /alias/i],
  ])('%s', (_, text, line, reason) => {
    const error = catchManifestError(text);
    expect(error.reason).toMatch(reason);
    expect(error.message).toContain(`f.yaml:${error.line}: `);
    expect(error.line).toBe(line);
  });

  it('whatever it holds', () => {
    const piece = fc.oneof(
      fc.constantFrom(...SERVICE.split(/\b/), '---\n', '- ', '&a ', '*a', '<<: '),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        try {
          parseManifest('f.yaml', pieces.join(''));
        } catch (error) {
          expect(error).toBeInstanceOf(ManifestError);
        }
      }),
      { numRuns: 500 },
    );
  });
});

function bomb(): string {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
  for (let level = 1; level < 9; level += 1)
    lines.push(`a${level}: &a${level} [${`*a${level - 1}, `.repeat(10)}]`);
  return `${lines.join('\n')}\n`;
}

describe('a file of JSON', () => {
  const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

  it.each(['\t', 2, undefined])(
    'is parsed as JSON, with the lines of its items: indented by %j',
    (indent) => {
      const list = {
        kind: 'List',
        metadata: { items: [{}] },
        apiVersion: 'v1',
        items: [namespace('[{"'), namespace('b')],
      };
      const text = JSON.stringify(list, undefined, indent);
      const { objects } = parseManifest('f.json', text);
      expect(objects.map(({ object }) => object)).toMatchObject([{ name: '[{"' }, { name: 'b' }]);
      const starts = [text.indexOf('"v1"', text.lastIndexOf('"items"')), text.lastIndexOf('"v1"')];
      const before = (offset: number) => text.slice(0, text.lastIndexOf('{', offset)).split('\n').length;
      expect(objects.map(({ line }) => line)).toEqual(starts.map(before));
    },
  );

  it('is bad where it is YAML only, with its line', () => {
    const parse = (text: string) => () => parseManifest('f.json', text);
    expect(parse(SERVICE)).toThrow(/^bad manifest: f\.json:1: not JSON: /);
    expect(parse('{\n"apiVersion": "v1",\n// no comments\n}')).toThrow(
      /^bad manifest: f\.json:3: not JSON: /,
    );
    expect(parse('{\n"kind": [}\n}')).toThrow(/^bad manifest: f\.json:2: not JSON: /);
  });
});
