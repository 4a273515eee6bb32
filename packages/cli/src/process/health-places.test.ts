import { describe, expect, it } from 'vitest';
import { findHealthPlaces } from './health-places.ts';

const COREFILE = `# health :1
(common) {
    health 127.0.0.1:9080 {
        lameduck 5s
    }
}
.:53 {
    import common
    ready # :2
    template ANY ANY health {
        ready :3
    }
    forward . /etc/resolv.conf
}
example.org {
    health [::1]:9081
    ready {$READY}
}
`;
const FILES: Readonly<Record<string, string>> = {
  Corefile: COREFILE,
  '/etc/coredns/Corefile.base': '.:53 {\n    health __PILLAR__LOCAL__DNS__:8080\n}\n',
};

const readText = (path: string): string => {
  const text = FILES[path];
  if (text === undefined) throw new Error(`ENOENT: ${path}`);
  return text;
};

const findIn = (line: string): readonly string[] => {
  const [command = '', ...words] = line.split(' ');
  return findHealthPlaces(command, words, readText).map(({ address, port }) => `${address ?? '*'} ${port}`);
};

describe('the probed ports of', () => {
  it.each([
    ['serve', ['* 8081']],
    ['serve --healthz-port=9 --sidecar-port 127.0.0.1:10', ['* 9', '127.0.0.1 10']],
    ['serve --healthz-port=[::1]:9 --sidecar-port=none', ['::1 9']],
    ['serve --healthz-port=0', []],
    ['serve --healthz-port=localhost:9', []],
    ['serve --healthz-port=70000', []],
    ['serve --takeover', []],
    ['kube-dns -healthz-port 9', ['* 9']],
    ['coredns', ['127.0.0.1 9080', '* 8181', '::1 9081']],
    ['coredns -conf stdin', []],
    ['coredns -conf nowhere', []],
    ['node-cache -localip 169.254.20.10,10.96.0.10', ['169.254.20.10 8080']],
    ['node-cache -basecorefile nowhere -conf Corefile', ['127.0.0.1 9080', '* 8181', '::1 9081']],
    ['sidecar', ['0.0.0.0 10054']],
    ['sidecar --prometheus-addr=127.0.0.1 --prometheus-port=9', ['127.0.0.1 9']],
    ['healthz -port=9 -cmd=true', ['* 9']],
    ['kube2sky', ['* 8081']],
    ['skydns', []],
    ['skydns -healthz-port=9', ['* 9']],
    ['dnsmasq -k', []],
  ])('%s', (line, places) => {
    expect(findIn(line)).toEqual(places);
  });
});
