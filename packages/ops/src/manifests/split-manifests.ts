/**
 * What of a layout is printed: all but the ConfigMap with the Corefile, which has the name of the original's. An apply would replace what
 * the users of a cluster have written there.
 */
import { parseAllDocuments } from 'yaml';
import type { ManifestFile } from './layout-files.ts';

export interface SplitManifests {
  readonly printed: readonly ManifestFile[];
  /** What is printed, as `Deployment kube-system/coredns`. */
  readonly replaced: readonly string[];
  readonly leftOut: readonly string[];
}

export function splitManifests(files: readonly ManifestFile[], withConfigMap: boolean): SplitManifests {
  // Shipped files hold a ConfigMap alone, or none.
  const isLeftOut = ({ text }: ManifestFile) => !withConfigMap && /^kind: ConfigMap$/m.test(text);
  const printed = files.filter((file) => !isLeftOut(file));
  return {
    printed,
    replaced: printed.flatMap(nameObjects),
    leftOut: files.filter(isLeftOut).flatMap(nameObjects),
  };
}

function nameObjects({ text }: ManifestFile): readonly string[] {
  return parseAllDocuments(text).flatMap((document) => {
    const [name, namespace] = [
      document.getIn(['metadata', 'name']),
      document.getIn(['metadata', 'namespace']),
    ];
    if (name === undefined) return [];
    return `${document.get('kind')} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
  });
}
