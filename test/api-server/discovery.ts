/**
 * The discovery documents of the API server double.
 */
import { catalog } from './catalog.ts';

export const versionBody = {
  major: '1',
  minor: '20',
  gitVersion: 'v1.20.2-double',
  gitCommit: '0000000000000000000000000000000000000000',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: 'none',
  compiler: 'none',
  platform: 'linux/amd64',
};

/** `serves` holds `group/version/plural`. */
export function describeGroup(group: string, serves: readonly string[]): unknown {
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
export function describeVersion(groupVersion: string, serves: readonly string[]): unknown {
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
