/**
 * The discovery documents of the API server double.
 */
import { catalog } from './catalog.ts';

const versionBody = {
  gitCommit: '0000000000000000000000000000000000000000',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: 'none',
  compiler: 'none',
  platform: 'linux/amd64',
};

/**
 * The document of a discovery path; undefined for other paths.
 *
 * @param serves holds `group/version/plural`
 * @param release of Kubernetes: `1.20.2`
 */
export function describePath(path: string, serves: readonly string[], release: string): unknown {
  const [, root = '', group, version, ...rest] = path.split('/');
  if (rest.length > 0) return undefined;
  if (path === '/version') return describeRelease(release);
  if (path === '/api') return { kind: 'APIVersions', apiVersion: 'v1', versions: ['v1'] };
  if (path === '/apis') return describeGroups(serves);
  if (path === '/api/v1') return describeVersion('v1', serves);
  if (root !== 'apis' || group === undefined) return undefined;
  return version === undefined
    ? describeGroup(group, serves)
    : describeVersion(`${group}/${version}`, serves);
}

function describeRelease(release: string): unknown {
  const [major, minor] = release.split('.');
  return { major, minor, gitVersion: `v${release}-double`, ...versionBody };
}

function describeGroups(serves: readonly string[]): unknown {
  const names = serves.map((path) => path.split('/')).filter(({ length }) => length === 3);
  const groups = [...new Set(names.map(([group = '']) => group))];
  return {
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: groups.map((group) => describeGroup(group, serves)),
  };
}

function describeGroup(group: string, serves: readonly string[]): unknown {
  const versions = [
    ...new Set(
      serves
        .map((path) => path.split('/'))
        .filter((parts) => parts.length === 3 && parts[0] === group)
        .map((parts) => parts[1] ?? ''),
    ),
  ].map((version) => ({ groupVersion: `${group}/${version}`, version }));
  const [preferredVersion] = versions;
  if (preferredVersion === undefined) return undefined;
  return { kind: 'APIGroup', apiVersion: 'v1', name: group, versions, preferredVersion };
}

/** The resources of a group and version. @param serves as above */
function describeVersion(groupVersion: string, serves: readonly string[]): unknown {
  const entries = catalog.filter(({ plural }) => serves.includes(`${groupVersion}/${plural}`));
  if (entries.length === 0) return undefined;
  const resources = entries.flatMap(({ kind, plural, namespaced, hasScale }) => {
    const resource = { name: plural, singularName: kind.toLowerCase(), namespaced, kind };
    return hasScale === true
      ? [resource, { ...resource, name: `${plural}/scale`, kind: 'Scale' }]
      : [resource];
  });
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources };
}
