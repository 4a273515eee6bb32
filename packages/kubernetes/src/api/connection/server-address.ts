/**
 * The address of an API server as people write it.
 */
import { ClusterConfigurationError } from './errors.ts';

/**
 * Without a scheme it is plain HTTP, as in client-go.
 * @param failing what to say before the address that cannot be used
 * @throws {ClusterConfigurationError}
 */
export function readServerAddress(text: string, failing: string): URL {
  const withScheme = text.includes('://') ? text : `http://${text}`;
  const url = URL.canParse(withScheme) ? new URL(withScheme) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || url.hostname === '') {
    throw new ClusterConfigurationError(
      `${failing}: ${text} is no address of an API server; write https://host:port`,
    );
  }
  url.username = '';
  url.password = '';
  url.search = '';
  url.hash = '';
  return url;
}
