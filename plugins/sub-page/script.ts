// What the page does beyond what HTML does: it copies, and opens the programs of the system. It reads without all of this.
export const SCRIPT = `(function(){
'use strict';
var told=document.getElementById('told');
function old(field){
var range=document.createRange(),chosen=getSelection();
range.selectNodeContents(field);chosen.removeAllRanges();chosen.addRange(range);
try{return document.execCommand('copy')}catch(e){return false}
}
function tell(button,ok){
var data=button.dataset,text=ok?data.done:data.failed;
told.textContent='';setTimeout(function(){told.textContent=text},50);
button.firstChild.textContent=text;
clearTimeout(button.timer);
button.timer=setTimeout(function(){button.firstChild.textContent=data.name},2500);
}
document.querySelectorAll('button[data-copy]').forEach(function(button){
button.hidden=false;
button.addEventListener('click',function(){
var field=document.getElementById(button.dataset.copy);
if(!navigator.clipboard)return tell(button,old(field));
navigator.clipboard.writeText(field.textContent).then(function(){tell(button,true)},function(){tell(button,old(field))});
});
});
var agent=navigator.userAgent,system=/Android/.test(agent)?'Android':/iPhone|iPad|iPod/.test(agent)||/Mac/.test(agent)&&navigator.maxTouchPoints>1?'iOS':/Windows/.test(agent)?'Windows':/Mac/.test(agent)?'macOS':'Linux';
var own=document.querySelector('details[data-system="'+system+'"]');
if(own){document.querySelectorAll('details[data-system]').forEach(function(one){one.open=one===own});own.parentNode.insertBefore(own,own.parentNode.querySelector('details'))}
})();`;
