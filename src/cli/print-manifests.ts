/**
 * Renders the shipped manifests for a cluster.
 */
import { LAYOUT_FOLDERS, type ManifestsPlan } from '../config/manifests/manifests-flags.ts';
import { fillIn } from '../roles/manifests/fill-in.ts';
import { ManifestFileError, readKustomization } from '../roles/manifests/layout-files.ts';
import { ExitError } from './exit.ts';
import { packageFolder } from './package-folder.ts';

/** @throws ExitError if they cannot be read, after the reason is printed */
export function printManifests(plan: ManifestsPlan): string {
  const { layout, dnsServer, domain, image, scaled } = plan;
  const folder = packageFolder(LAYOUT_FOLDERS[layout]);
  const place =
    layout === 'autoscaler' ? `--like=${scaled}` : `--dns-server-ip=${dnsServer} --domain=${domain}`;
  const words = `--layout=${layout} ${place} --image=${image}`;
  try {
    return fillIn(readKustomization(folder), plan, [`Printed by: portolan manifests ${words}`]);
  } catch (error) {
    if (!(error instanceof ManifestFileError)) throw error;
    process.stderr.write(`portolan manifests: ${error.message}\n`);
    throw new ExitError(1);
  }
}
