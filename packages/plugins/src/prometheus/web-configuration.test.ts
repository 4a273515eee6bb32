import { expect, it } from 'vitest';
import { readWebConfiguration } from './web-configuration.ts';

const read = (text: string) => readWebConfiguration(text, '/etc/web/web.yml');
const tls = (...lines: readonly string[]) =>
  ['tls_server_config:', ...lines.map((line) => `  ${line}`)].join('\n');

it('reads the certificate, from the folder of the file', () => {
  expect(read(tls('cert_file: server.crt', 'key_file: /keys/server.key'))).toEqual({
    certificate: '/etc/web/server.crt',
    key: '/keys/server.key',
    authorities: undefined,
    clientAuthentication: 'nocert',
    keyLog: undefined,
  });
});

it('reads what it demands of clients', () => {
  const clients = ['client_ca_file: ca.crt', 'client_auth_type: RequireAndVerifyClientCert'];
  expect(read(tls('cert_file: a', 'key_file: b', 'min_version: TLS12', ...clients))).toMatchObject({
    authorities: '/etc/web/ca.crt',
    clientAuthentication: 'require_and_verify',
  });
});

it.each(['', 'http_server_config:\n  http2: false', 'tls_server_config:'])('asks for no TLS: %j', (text) => {
  expect(read(text)).toBe(undefined);
});

it.each([
  ['basic_auth_users:\n  a: b', 'basic_auth_users is not built'],
  [tls('cert_file: a'), 'missing key_file'],
  [tls('key_file: a'), 'missing cert_file'],
  [tls('cert_file: [a]', 'key_file: b'), 'cert_file is not a text'],
  [tls('cert_file: a', 'key_file: b', 'client_allowed_sans: [c]'), 'client_allowed_sans is not built'],
  [tls('cert_file: a', 'key_file: b', 'client_auth_type: Some'), 'Invalid ClientAuth: Some'],
  [tls('cert_file: a', 'key_file: b', 'client_ca_file: c'), 'without a Client Auth Policy'],
  ['- a', 'is not a mapping'],
  ['tls_server_config: 3', 'is not a mapping'],
  ['a: [', 'Flow sequence'],
])('refuses %j', (text, reason) => {
  expect(() => read(text)).toThrow(reason);
});
