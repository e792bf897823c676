import { answer, tool, type Scene } from '../corpus/planted.ts'

/** Commits, checksums and ids. Usually only the beginning is remembered. */
export const hashes: readonly Scene[] = [
  {
    docs: {
      full: tool(
        'run_terminal_cmd',
        { command: 'git log -1' },
        { output: 'commit 7f3a9c04e1b2d5866a0f9917c3d2e4b5a6978810\n    Round once' },
      ),
      short: 'Please revert 7f3a9c04e1b2 on the release branch.',
      near: 'Please revert 7f3a9d11 on the release branch.',
    },
    asks: [
      { q: '7f3a9c04*', want: 'full short', never: 'near' },
      { q: '7f3a9c04e1b2', want: 'short' },
      { q: '7f3a9c04e1b2d5866a0f9917c3d2e4b5a6978810', want: 'full', never: 'short near' },
    ],
  },
  {
    docs: {
      uuid: 'The customer b81e6f40-52c7-4d19-9a3b-0c7d5ee21f68 has two carts.',
      log: tool(
        'run_terminal_cmd',
        { command: 'tail app.log' },
        { output: 'WARN cart merge failed id=b81e6f40-52c7-4d19-9a3b-0c7d5ee21f68' },
      ),
      near: 'The customer b81e6f40-52c7-4d19-9a3b-0c7d5ee21f69 has none.',
      far: 'The customer b81e7f40-52c7-4d19-8a3b-0c7d5ee21f68 is a test.',
    },
    asks: [
      { q: 'b81e6f40-52c7-4d19-9a3b-0c7d5ee21f68', want: 'uuid log', never: 'near far' },
      { q: 'b81e6f40', want: 'uuid log near', never: 'far' },
      { q: 'b81e6f40-52c7', want: 'uuid log near', never: 'far' },
    ],
  },
  {
    docs: {
      digest: 'registry answers sha256:e4d909c290d0fb1ca068ffaddf22cbd0aa11 for the worker image',
      said: answer('Pin it to sha256:e4d909c290d0fb1ca068ffaddf22cbd0aa11 in the chart.'),
      near: 'The old one was sha256:e4d908c290d0fb1ca068ffaddf22cbd0aa11.',
    },
    asks: [
      { q: 'sha256:e4d909c290d0fb1ca068ffaddf22cbd0aa11', want: 'digest said', never: 'near' },
      { q: 'e4d909c2*', want: 'digest said', never: 'near' },
    ],
  },
  {
    docs: {
      trace: 'trace_id=00ab12cd34ef56aa77bb in the request that hung',
      near: 'trace_id=00ab12cd34ef56aa78bb was fast',
      said: answer('In 00ab12cd34ef56aa77bb the lock was held for nine seconds.'),
    },
    asks: [
      { q: '00ab12cd34ef56aa77bb', want: 'trace said', never: 'near' },
      { q: '00ab12cd*', want: 'trace said near' },
    ],
  },
  {
    docs: {
      mac: 'The gauge with the address 9C:A5:25:7E:01:F4 drops out at night.',
      near: 'The gauge with the address 9C:A5:25:7E:01:F5 does not.',
      color: 'The accent is #d94f2b in the dark theme.',
      nearColor: 'The accent is #d94f2c in the light theme.',
    },
    asks: [
      { q: '9C:A5:25:7E:01:F4', want: 'mac', never: 'near' },
      { q: '#d94f2b', want: 'color', never: 'nearColor' },
    ],
  },
  {
    docs: {
      order: 'Order ORD-2025-0048817 was shipped twice.',
      lower: answer('ord-2025-0048817 has two rows in shipments.'),
      near: 'Order ORD-2025-0048871 was not shipped at all.',
    },
    asks: [
      { q: 'ORD-2025-0048817', want: 'order lower', never: 'near' },
      { q: '0048817', want: 'order lower', never: 'near' },
    ],
  },
]
