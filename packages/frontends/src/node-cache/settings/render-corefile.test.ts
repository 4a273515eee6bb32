import { expect, it } from 'vitest';
import { renderCorefile } from './render-corefile.ts';

it('puts the address of the metrics into each block that has the variable, as it is', () => {
  const block = (zone: string, address: string) => `${zone}:53 {\n    prometheus ${address}\n}\n`;
  const template = ['cluster.local', '.'].map((zone) => block(zone, '__PROMETHEUS__ENDPOINT__')).join('');
  const prometheusAddress = '$&__PILLAR__LOCAL__DNS__:9253';
  const { text } = renderCorefile(template, {
    localAddresses: ['169.254.20.10'],
    clusterDns: undefined,
    port: '53',
    prometheusAddress,
    upstreams: [],
    stubDomains: new Map(),
  });
  expect(text).toBe(block('cluster.local', prometheusAddress) + block('.', prometheusAddress));
});
