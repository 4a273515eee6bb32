/**
 * `k8s_gateway`: names of what clients outside a cluster reach: Ingresses, Services, routes of the Gateway API, DNSEndpoints.
 *
 * Source: k8s-gateway/k8s_gateway 1.x.
 */
import { definePlugin, within } from '@portolan/plugin';
import { Gateway } from './gateway.ts';
import { type GatewayOptions, readOptions } from './options.ts';

export default definePlugin<GatewayOptions>({
  api: 1,
  name: 'k8s_gateway',
  before: 'kubernetes',
  syntax: [
    [
      'k8s_gateway [ZONES…] {',
      '    resources RESOURCES…',
      '    ingressClasses CLASSES…',
      '    gatewayClasses CLASSES…',
      '    serviceLabelSelectors SELECTORS…',
      '    nodeAddressType InternalIP|ExternalIP',
      '    ttl SECONDS',
      '    apex NAME',
      '    secondary NAME',
      '    kubeconfig FILE [CONTEXT]',
      '    fallthrough [ZONES…]',
      '}',
    ].join('\n'),
  ],
  examples: [
    'k8s_gateway example.org',
    'k8s_gateway a.test b.test {\n  resources HTTPRoute Ingress Service DNSEndpoint\n  ttl 30\n  secondary dns2.kube-system\n  fallthrough\n}',
  ],
  parse: readOptions,
  create(options, context) {
    const gateway = new Gateway(options, context);
    return {
      questions: within(options.zones),
      handle: (query, next) => gateway.handle(query, next),
      start: (signal) => gateway.start(signal),
      isReady: () => gateway.isListed,
      stop: () => gateway.stop(),
    };
  },
});
