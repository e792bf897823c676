import { answer, code, tool, type Scene } from '../corpus/planted.ts'

/** Chinese and Japanese words of one, two or more characters inside unspaced text. */
export const cjk: readonly Scene[] = [
  {
    docs: {
      inside: '我们的数据库连接池在高峰时段耗尽了。',
      start: answer('数据库迁移脚本需要先备份。'),
      end: '请帮我优化一下数据库',
      mixed: 'postgres数据库的索引膨胀了怎么办',
      near: '数据仓库里的报表很慢,跟库存无关。',
      apart: '数据放在仓库,库房在楼下,据说很大。',
    },
    asks: [
      { q: '数据库', want: 'inside start end mixed', never: 'near apart' },
      { q: '数据', want: 'inside start end mixed near apart' },
      { q: '数据库连接池', want: 'inside', never: 'start end' },
      { q: 'postgres数据库', want: 'mixed' },
    ],
  },
  {
    docs: {
      inside: '用户登录以后页面一直转圈。',
      end: answer('先检查令牌,再跳转到登录'),
      code: code('ts', 'src/i18n/zh.ts', "export const zh = { signIn: '登录', signOut: '退出' }"),
      near: '登记和录入是两个步骤。',
      turned: '记录登上了排行榜。',
    },
    asks: [
      { q: '登录', want: 'inside end code', never: 'near turned' },
      { q: '用户登录', want: 'inside', never: 'end code' },
      { q: '登录 令牌', want: 'end', never: 'inside code' },
    ],
  },
  {
    docs: {
      start: '鲸鱼图标要换成矢量的。',
      middle: '这只蓝鲸是吉祥物。',
      end: answer('吉祥物就是一头鲸'),
      near: '鲨鱼图标已经是矢量的了。',
    },
    asks: [
      { q: '鲸', want: 'start middle end', never: 'near' },
      { q: '鲸鱼', want: 'start', never: 'middle end near' },
    ],
  },
  {
    docs: {
      start: '鳥のアイコンが小さすぎる。',
      end: answer('起動画面に出るのは青い鳥'),
      middle: '白鳥座のデモを直して。',
      near: '島のアイコンは大きい。',
    },
    asks: [
      { q: '鳥', want: 'start end middle', never: 'near' },
      { q: '白鳥座', want: 'middle', never: 'start end' },
    ],
  },
  {
    docs: {
      one: 'データベースの接続が切れる原因を調べて。',
      two: answer('まずデータベースのログを見ましょう。'),
      three: 'テスト用データベースを毎回作り直したい',
      near: 'データのベース色を青に変えた。',
      half: 'ベースデータは別の表にある。',
    },
    asks: [
      { q: 'データベース', want: 'one two three', never: 'near half' },
      { q: 'データベースの接続', want: 'one', never: 'two three' },
    ],
  },
  {
    docs: {
      one: '環境変数が読み込まれない。',
      two: answer('変数名を短くしました。'),
      three: 'この関数の変数',
      near: '変な数値が出る。',
      turned: '数が変わった。',
    },
    asks: [
      { q: '変数', want: 'one two three', never: 'near turned' },
      { q: '環境変数', want: 'one', never: 'two three' },
    ],
  },
  {
    docs: {
      one: '支付回调的签名校验失败,日志里只有 403。',
      two: answer('签名校验之前不要解析正文。'),
      near: '签字以后再校对检验报告。',
      turned: '先校验再签名,顺序反了。',
    },
    asks: [
      { q: '签名校验', want: 'one two', never: 'near turned' },
      { q: '支付回调 403', want: 'one' },
    ],
  },
  {
    docs: {
      one: '非同期処理の例外が握りつぶされている。',
      two: tool('grep_search', { query: '非同期処理' }, { hits: ['src/queue.ts: // 非同期処理はここで待つ'] }),
      near: '同期処理に戻したら直った。',
      far: '非常に長い期間の処理。',
    },
    asks: [
      { q: '非同期処理', want: 'one two', never: 'near far' },
      { q: '非同期', want: 'one two', never: 'near far' },
    ],
  },
  {
    docs: {
      simple: '缓存击穿导致首页超时。',
      other: answer('加互斥锁可以防止缓存击穿。'),
      near: '缓存雪崩是另一回事。',
      broken: '缓慢存储击中了穿透率。',
    },
    asks: [
      { q: '缓存击穿', want: 'simple other', never: 'near broken' },
      { q: '击穿', want: 'simple other', never: 'near broken' },
    ],
  },
  {
    docs: {
      full: 'ユーザー設定のダイアログが閉じない。',
      half: 'ﾕｰｻﾞｰ設定のＣＳＶをｲﾝﾎﾟｰﾄする。',
      near: 'ユーザの設定は別画面です。',
    },
    asks: [
      { q: 'ユーザー設定', want: 'full half', never: 'near' },
      { q: 'インポート', want: 'half' },
      { q: 'csv ユーザー', want: 'half', never: 'full' },
    ],
  },
]
