import { edit, file, grep, mcp, read, run, say, think, user } from '../script.ts'
import type { Thread } from '../script.ts'

const chinese: Thread = {
  project: 'ledger-api',
  title: '用户数据库表的索引',
  mode: 'agent',
  steps: [
    user('用户数据库表越来越慢,按手机号查询要三秒。请帮我看看需要加什么索引。'),
    mcp(
      'mcp_postgres_query',
      { sql: `explain select * from users where phone = '13800000000'` },
      'Seq Scan on users  (cost=0.00..48213.00 rows=1 width=212)',
    ),
    think('全表扫描。phone 列没有索引,而且存的格式不统一,有的带国家代码。', 8),
    say(
      '查询是全表扫描,因为 `phone` 列没有索引。另外号码格式不统一,建议先规范化,再建唯一索引:\n\n```sql\ncreate unique index users_by_phone on users (normalize_phone(phone));\n```',
    ),
    edit(
      'migrations/users_by_phone.py',
      '+    op.execute("create unique index users_by_phone on users (normalize_phone(phone))")',
    ),
    user('线上数据库里有重复的号码怎么办?'),
    say(
      '先用 `group by normalize_phone(phone) having count(*) > 1` 找出重复的用户,合并之后再建唯一索引;否则迁移会失败。',
    ),
  ],
}

const chineseCache: Thread = {
  project: 'atlas',
  title: '地图瓦片缓存失效',
  mode: 'chat',
  steps: [
    user('部署新版本以后,浏览器还在用旧的地图瓦片。缓存应该怎么设置?', file('web/nginx.conf')),
    say(
      '瓦片的地址里加上版本号,例如 `/tiles/v42/{z}/{x}/{y}.pbf`,然后设置 `Cache-Control: public, max-age=31536000, immutable`。入口页面本身用 `no-cache`。',
    ),
  ],
}

const japanese: Thread = {
  project: 'field-notes',
  title: '同期エラーの調査',
  mode: 'agent',
  steps: [
    user(
      '圏外から戻ったあとにメモの同期が止まります。ログには「409 Conflict」とだけ出ています。原因を調べてください。',
    ),
    grep('409', 'src/sync/push.ts:48:  if (response.status === 409) return'),
    read('src/sync/push.ts', 'if (response.status === 409) return\nqueue.shift()\n'),
    think('409 のときに return だけしてキューを進めないので、同じ変更を送り続けて止まる。', 6),
    say(
      '409 を受け取ると何もせずに戻るため、キューの先頭がいつまでも残り、同期が止まって見えます。先にサーバーの版を取り込み、マージしてから送り直すように直します。',
    ),
    edit(
      'src/sync/push.ts',
      '-  if (response.status === 409) return',
      '+  if (response.status === 409) return pullThenRetry(change)',
    ),
    run('npx vitest run src/sync', ' ✓ src/sync (31 tests) 352ms'),
    say('直しました。テストは 31 件すべて通っています。'),
  ],
}

const japaneseName: Thread = {
  project: 'shop',
  title: '氏名の表示順',
  mode: 'edit',
  steps: [
    user('日本語の画面では、名前を姓・名の順で表示したいです。getUserName を直してください。'),
    edit('src/user/getUserName.ts', '+  if (locale === "ja") return `${found.lastName} ${found.firstName}`'),
    say('日本語のときだけ「姓 名」の順になります。敬称は付けていません。'),
  ],
}

const korean: Thread = {
  project: 'atlas',
  title: '로그인 후 빈 화면',
  mode: 'agent',
  steps: [
    user(
      '로그인한 뒤에 가끔 빈 화면이 나옵니다. 새로고침하면 정상입니다. 콘솔에는 "Failed to fetch dynamically imported module" 이라고 나와요.',
    ),
    think('배포 직후에 옛 청크를 요청하면 404가 난다. 새 버전의 index.html 은 새 해시를 가리킨다.', 7),
    say(
      '배포로 청크 파일 이름이 바뀌었는데 열려 있던 탭은 옛 파일을 요청하기 때문입니다. 실패하면 한 번만 새로고침하도록 하겠습니다.',
    ),
    edit('web/src/main.tsx', `+window.addEventListener('vite:preloadError', () => location.reload())`),
    run('npm run test:web -- login', ' ✓ web/src/login (12 tests)'),
    say('수정했습니다. 그리고 서버에 이전 버전의 청크를 하루 동안 남겨 두는 것을 추천합니다.'),
  ],
}

const koreanTests: Thread = {
  project: 'shop',
  title: '장바구니 테스트 추가',
  mode: 'agent',
  steps: [
    user('장바구니 할인 계산에 테스트를 추가해 주세요. 쿠폰 두 장을 같이 쓰는 경우가 빠져 있어요.'),
    edit(
      'test/cart/discount.test.ts',
      `+test('쿠폰 두 장은 큰 것부터 적용된다', () => {`,
      `+  expect(discount(cart, ['P10', 'W5000'])).toBe(13_500)`,
      '+})',
    ),
    run('npx vitest run test/cart', ' ✓ test/cart/discount.test.ts (9 tests) 22ms'),
    say('테스트 두 개를 추가했고 모두 통과합니다.'),
  ],
}

export const otherTongues: readonly Thread[] = [chinese, chineseCache, japanese, japaneseName, korean, koreanTests]
