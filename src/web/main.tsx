import { render } from 'preact'
import { lazy, LocationProvider, Route, Router } from 'preact-iso'
import { Frame } from './frame/frame.tsx'
import { startLive } from './lib/live.ts'
import { SearchScreen } from './search/search.tsx'
import './styles/base.css'
import './styles/frame.css'
import './styles/search.css'

const ChatScreen = lazy(() => import('./chat/chat.tsx'))
const ProjectScreen = lazy(() => import('./reports/project.tsx'))
const StatsScreen = lazy(() => import('./reports/stats.tsx'))
const TokensScreen = lazy(() => import('./reports/tokens.tsx'))
const LossesScreen = lazy(() => import('./reports/losses.tsx'))
const ArchivesScreen = lazy(() => import('./reports/archives.tsx'))
const StatusScreen = lazy(() => import('./reports/status.tsx'))

const Nowhere = () => (
  <main id="main" class="column">
    <h1>Nothing here</h1>
    <p>
      This address has no page. <a href="/">Search your chats</a>
    </p>
  </main>
)

const App = () => (
  <LocationProvider>
    <Frame>
      <Router>
        <Route path="/" component={SearchScreen} />
        <Route path="/chats/:id" component={ChatScreen} />
        <Route path="/projects/:id" component={ProjectScreen} />
        <Route path="/stats" component={StatsScreen} />
        <Route path="/tokens" component={TokensScreen} />
        <Route path="/losses" component={LossesScreen} />
        <Route path="/archives" component={ArchivesScreen} />
        <Route path="/status" component={StatusScreen} />
        <Route default component={Nowhere} />
      </Router>
    </Frame>
  </LocationProvider>
)

const root = document.querySelector('#page')
if (root !== null) {
  startLive()
  root.replaceChildren()
  render(<App />, root)
}
