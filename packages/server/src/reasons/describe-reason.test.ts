import { expect, it } from 'vitest';
import { writeDig } from './describe-reason.ts';

it.each([
  ['10.0.0.2', 'dig @10.0.0.2 . NS'],
  ['10.0.0.2:53', 'dig @10.0.0.2 . NS'],
  ['127.0.0.1:5602', 'dig @127.0.0.1 -p 5602 . NS'],
  ['[2001:db8::1]:5353', 'dig @2001:db8::1 -p 5353 . NS'],
  ['2001:db8::1', 'dig @2001:db8::1 . NS'],
  ['fe80::1%eth0', 'dig @fe80::1%eth0 . NS'],
  ['tls://10.0.0.2:853', 'dig @10.0.0.2 +tls . NS'],
  ['tls://10.0.0.2:8853#dns.example', 'dig @10.0.0.2 -p 8853 +tls . NS'],
  ['tcp://10.0.0.2:53', 'dig @10.0.0.2 +tcp . NS'],
])('asks %s as the server does', (server, command) => {
  expect(writeDig(server)).toBe(command);
});
