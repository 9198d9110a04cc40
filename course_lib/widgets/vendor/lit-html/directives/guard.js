/*! lit-html 3.3.3 directives/guard.js | Copyright 2017 Google LLC | BSD-3-Clause */
import{noChange as r}from"../lit-html.js";import{directive as t,Directive as s}from"../directive.js";

const e={},i=t(class extends s{constructor(){super(...arguments),this.ot=e}render(r,t){return t()}update(t,[s,e]){if(Array.isArray(s)){if(Array.isArray(this.ot)&&this.ot.length===s.length&&s.every((r,t)=>r===this.ot[t]))return r}else if(this.ot===s)return r;return this.ot=Array.isArray(s)?Array.from(s):s,this.render(s,e)}});export{i as guard};
