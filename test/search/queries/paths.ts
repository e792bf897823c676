import { answer, code, tool, type Scene } from '../corpus/planted.ts'

/** A part of a path, a file's name, or the whole path with another root. */
export const paths: readonly Scene[] = [
  {
    docs: {
      read: tool(
        'read_file',
        { relativeWorkspacePath: 'src/checkout/promo/apply-voucher.ts' },
        { contents: 'export {}' },
      ),
      asked: 'Look at apply-voucher.ts, it applies the voucher twice.',
      tested: code('ts', 'test/checkout/promo/apply-voucher.test.ts', 'test("voucher", () => {})'),
      near: tool(
        'read_file',
        { relativeWorkspacePath: 'src/checkout/promo/revoke-voucher.ts' },
        { contents: 'export {}' },
      ),
    },
    asks: [
      { q: 'promo/apply-voucher.ts', want: 'read', never: 'near tested' },
      { q: 'apply-voucher.ts', want: 'read asked', never: 'near' },
      { q: 'checkout/promo', want: 'read tested near', never: 'asked' },
    ],
  },
  {
    docs: {
      windows: String.raw`It wrote C:\Users\ada\AppData\Local\Gauge\readings.sqlite and then died.`,
      unix: answer('On Linux it is ~/.local/share/gauge/readings.sqlite.'),
      near: 'readings.sqlite3 is the old name.',
    },
    asks: [
      { q: 'gauge/readings.sqlite', want: 'windows unix', never: 'near' },
      { q: String.raw`Gauge\readings.sqlite`, want: 'windows unix', never: 'near' },
    ],
  },
  {
    docs: {
      attached: {
        text: 'What does this do?',
        attached: ['/home/ada/code/infra/modules/vpn/peering.tf'],
        project: 'infra',
      },
      edited: tool(
        'edit_file',
        { relativeWorkspacePath: 'modules/vpn/peering.tf', instructions: 'Open the port.' },
        {},
      ),
      near: tool('edit_file', { relativeWorkspacePath: 'modules/vpc/peering.tf', instructions: 'Close it.' }, {}),
    },
    asks: [
      { q: 'vpn/peering.tf', want: 'attached edited', never: 'near' },
      { q: 'modules/vpn', want: 'attached edited', never: 'near' },
      { q: 'path:vpn/peering.tf', want: 'attached edited', never: 'near', plain: 'vpn/peering.tf' },
    ],
  },
  {
    docs: {
      dot: 'Who reads .env.staging.local?',
      said: answer('Only the preview build reads `.env.staging.local`.'),
      near: 'Nobody reads .env.production.local.',
    },
    asks: [
      { q: '.env.staging.local', want: 'dot said', never: 'near' },
      { q: 'env.staging', want: 'dot said', never: 'near' },
    ],
  },
  {
    docs: {
      story: code('tsx', 'packages/ui/src/TooltipArrow.stories.tsx', 'export default { title: "Arrow" }'),
      real: code('tsx', 'packages/ui/src/TooltipArrow.tsx', 'export const TooltipArrow = () => null'),
      near: code('tsx', 'packages/ui/src/TooltipBox.stories.tsx', 'export default { title: "Box" }'),
    },
    asks: [
      { q: 'TooltipArrow.stories', want: 'story', never: 'real near' },
      { q: 'tooltip-arrow', want: 'story real', never: 'near' },
    ],
  },
  {
    docs: {
      migration: tool(
        'list_dir',
        { relativeWorkspacePath: 'db/migrate' },
        { files: ['20250312_add_tax_region.sql', '20250401_drop_tax_band.sql'] },
      ),
      asked: 'Is 20250312_add_tax_region.sql safe to run twice?',
      near: 'And 20250313_add_tax_region.sql?',
    },
    asks: [
      { q: '20250312_add_tax_region.sql', want: 'migration asked', never: 'near' },
      { q: 'add_tax_region', want: 'migration asked near' },
    ],
  },
  {
    docs: {
      url: 'The client calls https://api.example.com/v3/parcels/track?carrier=dhl and gets 418.',
      route: code('ts', 'src/routes.ts', "router.get('/v3/parcels/track', track)"),
      near: "router.get('/v2/parcels/track') is the old one",
    },
    asks: [
      { q: '/v3/parcels/track', want: 'url route', never: 'near' },
      { q: 'parcels/track carrier dhl', want: 'url', never: 'route near' },
    ],
  },
  {
    docs: {
      chinese: '请看 文档/部署说明.md 的第三节。',
      answered: answer('我更新了 部署说明.md。'),
      near: '部署手册.md 已经过时。',
    },
    asks: [
      { q: '部署说明.md', want: 'chinese answered', never: 'near' },
      { q: '文档/部署说明', want: 'chinese', never: 'near' },
    ],
  },
]
