import { createPolicy } from '@hermes/safety'
const cwd='/home/ada/work'
const mk=(writable,extra={})=>{const p=createPolicy({mode:'ask',home:'/home/ada/.hermes',userHome:'/home/ada',workspace:[cwd]});p.listen('*',()=>{});return p}
let i=0
for(const [name,more] of [['plain',{}],['isolated',{writable:[cwd],isolation:{}}],['iso+taint',{writable:[cwd],tainted:true}]]){
 for(const line of ['PYTHONPATH=src pytest','PYTHONPATH=src python3 x.py','export PYTHONPATH=src','PYTHONPATH=. python -m pytest tests','PYTHONPATH=$PWD/src pytest','unset GOPROXY','unset GOPROXY; go test ./...','GOFLAGS=-mod=mod go build ./...','source .venv/bin/activate && pytest','. bin/activate','unset PYTHONPATH','NODE_OPTIONS=--max-old-space-size=4096 npm test','hermes -q "$X"','hermes chat -q "$(cat x)"','hermes "$X"','unset NODE_OPTIONS HTTP_PROXY','PYTHONPATH=/tmp/x pytest','export PYTHONPATH=$PYTHONPATH:src','NODE_PATH=lib node x.js']){
  const p=mk(); const {tainted=false,...rest}=more
  const d=await p.decide({type:'spawn',command:line,cwd,backend:'local'},{sessionId:'s'+i++,platform:'cli',agentPath:['root'],origin:'model',tainted,toolName:'terminal',workspace:cwd,...rest})
  console.log(name.padEnd(10),line.padEnd(45),d.type,d.type==='ask'?d.question.rule+' | '+d.question.reason.slice(0,90):d.type==='deny'?d.rule:'')
 }}
