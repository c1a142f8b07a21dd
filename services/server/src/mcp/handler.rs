//! Implements the server trait of the MCP library. Each method calls one operation.

use knowhow_ops::skills::ReadFolder;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, DiscoverResult, ErrorCode, GetPromptRequestParams, GetPromptResponse, GetSkillRequestParams,
    GetSkillResult, Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListSkillsResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion, ReadResourceDirectoryRequestParams,
    ReadResourceDirectoryResult, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio::sync::oneshot;

use super::caller::Caller;
use super::message::known_method;
use super::problem::protocol_error;
use super::tool_call::{QueuedToolCall, ToolCallSender};
use super::tools::{AnyTool, definitions};
use super::{prompts, resources};

/// Cache time in milliseconds for responses that depend only on the caller's scopes.
const FIXED_TTL_MS: u64 = 300_000;
/// Cache time in milliseconds for responses that depend on skills. It is short, because an agent may look for a skill
/// right after saving it.
const SKILLS_TTL_MS: u64 = 2_000;

const INSTRUCTIONS: &str = "Knowhow stores procedures (skills) that you saved earlier, and memories of the user. \
    Before non-trivial work look for a skill with skill_suggest or skill_list and read it with skill_view. When you \
    solved something worth repeating, save it with skill_save; when a skill turned out wrong, correct it with \
    skill_patch. Facts about the user go to memory_save and are found with memory_recall. The prompt skills-guidance \
    has more details.";

/// Handler for the requests that the MCP library has parsed.
#[derive(Clone)]
pub struct Handler;

type Context = RequestContext<RoleServer>;

fn caller(context: &Context) -> Result<&Caller, ErrorData> {
    extension(context)
}

/// Returns a value that the endpoint attached to the request.
fn extension<T: Clone + Send + Sync + 'static>(context: &Context) -> Result<&T, ErrorData> {
    let parts = context.extensions.get::<http::request::Parts>();
    parts.and_then(|parts| parts.extensions.get()).ok_or_else(|| ErrorData::internal_error("no caller", None))
}

/// Returns the cache time and the cache scope for a response. Revisions before 2026-07-28 have no such members.
fn fresh(context: &Context, ttl_ms: u64) -> (Option<u64>, Option<CacheScope>) {
    if is_modern(context) { (Some(ttl_ms), Some(CacheScope::Private)) } else { (None, None) }
}

fn is_modern(context: &Context) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// Rejects a cursor, because the list has only one page.
fn refuse_cursor(request: Option<&PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor.as_ref()) {
        Some(_) => Err(ErrorData::invalid_params("the cursor is invalid; start again without it", None)),
        None => Ok(()),
    }
}

fn cursor(request: Option<PaginatedRequestParams>) -> Option<String> {
    request.and_then(|request| request.cursor)
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_skills_with_directory_read()
            .build();
        let server = Implementation::new("knowhow", env!("CARGO_PKG_VERSION"))
            .with_title("Knowhow")
            .with_description("Procedural memory for agents: skills that are saved, found and followed again.");
        ServerConfig::new(capabilities).with_server_info(server).with_instructions(INSTRUCTIONS)
    }

    async fn discover(&self, _: Context) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info())
            .with_ttl_ms(FIXED_TTL_MS)
            .with_cache_scope(CacheScope::Private))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        refuse_cursor(request.as_ref())?;
        let caller = caller(&context)?;
        let visible = AnyTool::ALL.iter().map(|tool| caller.principal().require(tool.scope).is_ok());
        let tools = definitions().iter().zip(visible).filter(|(_, visible)| *visible);
        let mut result = ListToolsResult::with_all_items(tools.map(|(tool, _)| tool.clone()).collect());
        (result.ttl_ms, result.cache_scope) = fresh(&context, FIXED_TTL_MS);
        Ok(result)
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: Context) -> Result<CallToolResponse, ErrorData> {
        let ToolCallSender(tool_calls) = extension(&context)?;
        let Some(tool) = AnyTool::named(&request.name) else {
            let known: Vec<&str> = AnyTool::ALL.into_iter().map(|tool| tool.name).collect();
            let message = format!("no such tool; available are {}", known.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        };
        let (reply, done) = oneshot::channel();
        let work = QueuedToolCall { tool, arguments: request.arguments, reply };
        let carried_out = async { tool_calls.send(work).await.ok().and(done.await.ok()) };
        let over = || ErrorData::internal_error("the request has ended", None);
        carried_out.await.map(Into::into).ok_or_else(over)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        let caller = caller(&context)?;
        let mut result = resources::list(caller, cursor(request))
            .await
            .map_err(|error| protocol_error(error, None, &caller.request_id))?;
        (result.ttl_ms, result.cache_scope) = fresh(&context, SKILLS_TTL_MS);
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        refuse_cursor(request.as_ref())?;
        let mut result = ListResourceTemplatesResult::with_all_items(vec![resources::template()]);
        (result.ttl_ms, result.cache_scope) = fresh(&context, FIXED_TTL_MS);
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let caller = caller(&context)?;
        let mut result = resources::read(caller, &request.uri)
            .await
            .map_err(|error| protocol_error(error, Some(&request.uri), &caller.request_id))?;
        (result.ttl_ms, result.cache_scope) = fresh(&context, SKILLS_TTL_MS);
        Ok(result.into())
    }

    async fn read_resource_directory(
        &self,
        request: ReadResourceDirectoryRequestParams,
        context: Context,
    ) -> Result<ReadResourceDirectoryResult, ErrorData> {
        let caller = caller(&context)?;
        let folder = ReadFolder { uri: request.uri.clone(), cursor: request.cursor };
        let mut result = resources::read_directory(caller, folder)
            .await
            .map_err(|error| protocol_error(error, Some(&request.uri), &caller.request_id))?;
        (result.ttl_ms, result.cache_scope) = fresh(&context, SKILLS_TTL_MS);
        Ok(result)
    }

    async fn list_skills(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListSkillsResult, ErrorData> {
        let caller = caller(&context)?;
        let mut result = resources::list_skills(caller, cursor(request))
            .await
            .map_err(|error| protocol_error(error, None, &caller.request_id))?;
        (result.ttl_ms, result.cache_scope) = fresh(&context, SKILLS_TTL_MS);
        Ok(result)
    }

    async fn get_skill(&self, request: GetSkillRequestParams, context: Context) -> Result<GetSkillResult, ErrorData> {
        let caller = caller(&context)?;
        let mut result = resources::get_skill(caller, &request.uri)
            .await
            .map_err(|error| protocol_error(error, Some(&request.uri), &caller.request_id))?;
        (result.ttl_ms, result.cache_scope) = fresh(&context, SKILLS_TTL_MS);
        Ok(result)
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        refuse_cursor(request.as_ref())?;
        let mut result = ListPromptsResult::with_all_items(prompts::list(caller(&context)?));
        (result.ttl_ms, result.cache_scope) = fresh(&context, FIXED_TTL_MS);
        Ok(result)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let caller = caller(&context)?;
        let result = prompts::get(caller, &request.name).await;
        result.map(Into::into).map_err(|error| protocol_error(error, None, &caller.request_id))
    }

    async fn complete(&self, _: CompleteRequestParams, _: Context) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "no such method: completion is not supported", None))
    }

    /// Answers requests that the library cannot parse: unknown methods, and known methods with invalid parameters.
    async fn on_custom_request(&self, request: CustomRequest, context: Context) -> Result<CustomResult, ErrorData> {
        let known = match known_method(&request.method) {
            // The revision without sessions has no handshake, so `initialize` is unknown there.
            Some("initialize") => !is_modern(&context),
            Some("ping" | "notifications/initialized") | None => false,
            Some(_) => true,
        };
        if known {
            let message = format!("the params of {} do not fit its schema", request.method);
            return Err(ErrorData::invalid_params(message, None));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "no such method", None))
    }
}
